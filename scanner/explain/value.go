package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// maxValue is the maximum length in bytes of a value, maxText that of the text of a part.
const (
	maxValue = 300
	maxText  = 500
	maxNest  = 16
)

// text returns a value in CEL syntax, truncated after maxValue bytes.
func text(v ref.Val) string {
	w := &writer{}
	w.value(v, 0)
	return clip(w.String(), maxValue)
}

// clip truncates text after a number of bytes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// writer writes a value until it is full.
type writer struct{ strings.Builder }

func (w *writer) full() bool { return w.Len() > maxValue }

func (w *writer) value(v ref.Val, depth int) {
	switch {
	case w.full():
		return
	case depth > maxNest:
		w.WriteString("…")
		return
	}
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case types.Null:
		w.WriteString("null")
	case types.String:
		w.quoted(string(v))
	case types.Bytes:
		w.WriteString("b")
		w.quoted(string(v))
	case types.Bool, types.Int, types.Double:
		fmt.Fprint(w, v.Value())
	case types.Uint:
		fmt.Fprintf(w, "%du", uint64(v))
	case types.Duration:
		fmt.Fprintf(w, "duration(%q)", v.String())
	case types.Timestamp:
		fmt.Fprintf(w, "timestamp(%q)", v.ConvertToType(types.StringType).Value())
	case *types.Unknown:
		w.WriteString("(unknown)")
	case *types.Err:
		w.WriteString("(error)")
	case *mutation.JSONPatchVal:
		w.patch(v)
	case *types.Optional:
		w.optional(v, depth)
	case traits.Lister:
		w.list(v, depth)
	case traits.Mapper:
		w.mapping(v, depth)
	default:
		w.native(v)
	}
}

func (w *writer) quoted(s string) {
	w.WriteString(strconv.Quote(clip(s, maxValue)))
}

func (w *writer) optional(v *types.Optional, depth int) {
	if !v.HasValue() {
		w.WriteString("optional.none()")
		return
	}
	w.WriteString("optional.of(")
	w.value(v.GetValue(), depth+1)
	w.WriteString(")")
}

func (w *writer) list(v traits.Lister, depth int) {
	w.WriteString("[")
	n := 0
	for it := v.Iterator(); it.HasNext() == types.True && !w.full(); n++ {
		if n > 0 {
			w.WriteString(", ")
		}
		w.value(it.Next(), depth+1)
	}
	w.WriteString("]")
}

// mapping writes a map.
func (w *writer) mapping(v traits.Mapper, depth int) {
	w.WriteString("{")
	n := 0
	for it := v.Iterator(); it.HasNext() == types.True && !w.full(); n++ {
		if n > 0 {
			w.WriteString(", ")
		}
		key := it.Next()
		w.value(key, depth+1)
		w.WriteString(": ")
		item, _ := v.Find(key)
		w.value(item, depth+1)
	}
	w.WriteString("}")
}

// patch writes an operation of a JSON patch.
func (w *writer) patch(v *mutation.JSONPatchVal) {
	w.WriteString("JSONPatch{op: ")
	w.quoted(v.Op)
	w.WriteString(", path: ")
	w.quoted(v.Path)
	if v.From != "" {
		w.WriteString(", from: ")
		w.quoted(v.From)
	}
	if v.Val != nil {
		w.WriteString(", value: ")
		w.value(v.Val, 1)
	}
	w.WriteString("}")
}

// native writes a value of a type that is not CEL's own, such as one that a policy constructs.
func (w *writer) native(v ref.Val) {
	if fields, ok := v.Value().(map[string]any); ok {
		w.WriteString(v.Type().TypeName() + "{")
		for n, name := range slices.Sorted(maps.Keys(fields)) {
			if n > 0 {
				w.WriteString(", ")
			}
			w.WriteString(name + ": ")
			if item, ok := fields[name].(ref.Val); ok {
				w.value(item, 1)
			} else if data, err := json.Marshal(fields[name]); err == nil {
				w.Write(data[:min(len(data), maxValue)])
			}
			if w.full() {
				break
			}
		}
		w.WriteString("}")
		return
	}
	w.WriteString(v.Type().TypeName())
}
