package unknown

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// Value replaces an unknown value in the content of an object.
type Value struct {
	// Field is the field on which the value depends.
	Field *render.Unknown
	// Maybe is set when the field may be absent.
	Maybe bool
}

// Open replaces a map in the content of an object that may have more keys than the known ones.
type Open struct {
	Content map[string]any
	// Path leads to the map, and Reason is the reason why other keys are unknown.
	Path   []string
	Reason string
}

// WithDefaults returns the content of an object of a kind without a known schema: all maps outside of
// its metadata may have more keys.
func WithDefaults(content map[string]any, reason string) Open {
	out := map[string]any{}
	for key, item := range content {
		if key != "metadata" {
			item = opened(item, []string{key}, reason)
		}
		out[key] = item
	}
	return Open{Content: out, Reason: reason}
}

// WithoutSchema marks an object of a kind that is known by name: fields that are not written may
// exist, since the kind's CustomResourceDefinition may have a default for them.
func WithoutSchema(kind schema.GroupVersionKind, content map[string]any) any {
	if content == nil {
		return nil
	}
	return WithDefaults(content, fmt.Sprintf("the CustomResourceDefinition of %s may have a default for it, and is not in the repository", kind.Kind))
}

func opened(value any, path []string, reason string) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = opened(item, append(slices.Clone(path), key), reason)
		}
		return Open{Content: out, Path: path, Reason: reason}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = opened(item, append(slices.Clone(path), strconv.Itoa(i)), reason)
		}
		return out
	}
	return value
}

// FieldPath returns a path in the notation of the Kubernetes API.
func FieldPath(path []string) string {
	text := ""
	for _, step := range path {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 {
			text += "[" + step + "]"
		} else {
			text = origin.AppendKey(text, step)
		}
	}
	return text
}

// Describe returns an unknown field and the reason, as a sentence.
func Describe(f *render.Unknown) string {
	if len(f.Path) == 0 {
		return "the object is not known: " + f.Reason
	}
	return FieldPath(f.Path) + " is not known: " + f.Reason
}

// Which returns an unknown field and the reason, as a noun phrase.
func Which(f *render.Unknown) string {
	return cmp.Or(FieldPath(f.Path), "the object") + ", which is not known: " + f.Reason
}

// At reports whether a path is that of an unknown field, or below one.
func At(path []string, fields []render.Unknown) bool {
	return slices.ContainsFunc(fields, func(f render.Unknown) bool {
		return len(f.Path) <= len(path) && slices.Equal(f.Path, path[:len(f.Path)])
	})
}

// Below reports whether an unknown field is below a path.
func Below(path []string, fields []render.Unknown) bool {
	return slices.ContainsFunc(fields, func(f render.Unknown) bool {
		return len(path) < len(f.Path) && slices.Equal(path, f.Path[:len(path)])
	})
}

// Path parses a path in the notation of the Kubernetes API.
func Path(field string) []string {
	var path []string
	for _, step := range origin.ParsePath(strings.TrimSpace(field)) {
		path = append(path, step.Key)
	}
	return path
}

// identity are the fields that identify an object.
var identity = [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "generateName"}, {"metadata", "namespace"}}

// Identity returns the unknown field because of which the object is not identified; nil if it is.
func Identity(fields []render.Unknown) *render.Unknown {
	for i := range fields {
		for _, path := range identity {
			if At(path, fields[i:i+1]) {
				return &fields[i]
			}
		}
	}
	return nil
}
