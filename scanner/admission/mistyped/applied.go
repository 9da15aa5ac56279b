package mistyped

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/preadmit/preadmit/render/origin"
)

// untyped matches the beginning of refusals of server-side apply that name fields
// (k8s.io/apimachinery/pkg/util/managedfields/internal, structuredMergeManager).
var untyped = regexp.MustCompile(`^failed to create typed patch object \([^()]*\): (?:errors:\n  )?`)

// applied returns the fields that do not have the types of the kind, according to server-side apply. Each has
// a line of the message, with a path in the form of structured-merge-diff.
func applied(message string, object map[string]any) (fields []string) {
	begin := untyped.FindString(message)
	if begin == "" {
		return nil
	}
	for text := range strings.SplitSeq(message[len(begin):], "\n  ") {
		if found := named(text, object); len(found) == 1 {
			fields = append(fields, found...)
		}
	}
	return fields
}

// named returns the fields of a value whose path is the beginning of a text.
func named(text string, of any) []string {
	if fields := (&walk{}).from("", text, of); len(fields) > 0 {
		return fields
	}
	return (&walk{defaults: true}).from("", text, of)
}

// walk follows paths through a value. A path does not distinguish a dot in a name from one between
// names.
type walk struct {
	// defaults is set if keys may have other defaults than those of Kubernetes' own kinds.
	defaults bool
	steps    int
}

// mostSteps bounds the number of steps that are tried.
const mostSteps = 10_000

func (w *walk) from(field, text string, value any) (fields []string) {
	if w.steps++; w.steps > mostSteps {
		return nil
	}
	if message, ok := strings.CutPrefix(text, ": "); ok {
		return []string{w.element(field, message, value)}
	}
	switch v := value.(type) {
	case map[string]any:
		for name, value := range v {
			if rest, ok := strings.CutPrefix(text, "."+name); ok {
				fields = append(fields, w.from(origin.AppendKey(field, name), rest, value)...)
			}
		}
	case []any:
		for i, item := range v {
			if rest, ok := w.cutItem(text, i, item); ok {
				fields = append(fields, w.from(at(field, i), rest, item)...)
			}
		}
	}
	return fields
}

// at returns the field of an item of a list.
func at(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// cutItem cuts the step to an item of a list from a path: its index, its value or its keys.
func (w *walk) cutItem(path string, i int, item any) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, fmt.Sprintf("[%d]", i)); ok {
		return rest, true
	}
	if m, isMap := item.(map[string]any); isMap {
		return w.cutKeys(path, m)
	}
	return strings.CutPrefix(path, "[="+value.ToString(value.NewValueInterface(item))+"]")
}

var keyName = regexp.MustCompile(`^[\[,]([A-Za-z]+)=`)

// defaultProtocol is the default of the only key in Kubernetes that has one.
const defaultProtocol = `"TCP"`

// cutKeys cuts the keys of an item from a path. A key that the item does not have has its default value
// there.
func (w *walk) cutKeys(path string, item map[string]any) (rest string, ok bool) {
	for rest = path; ; {
		m := keyName.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		rest = rest[len(m[0]):]
		text := defaultProtocol
		if key, has := item[m[1]]; has {
			text = value.ToString(value.NewValueInterface(key))
		} else if quoted, err := strconv.QuotedPrefix(rest); w.defaults && err == nil {
			text = quoted
		}
		if rest, ok = strings.CutPrefix(rest, text); !ok {
			return "", false
		}
	}
	return strings.CutPrefix(rest, "]")
}

var (
	numbered  = regexp.MustCompile(`^element (\d{1,9}): `)
	duplicate = regexp.MustCompile(`^duplicate entries for key (?s:(.*))$`)
)

// element returns the invalid item of a list: one that the list cannot contain, or the second one with the
// same key. It returns the field itself if the error is not about an item.
func (w *walk) element(field, message string, value any) string {
	list, _ := value.([]any)
	if m := numbered.FindStringSubmatch(message); m != nil {
		if i, err := strconv.Atoi(m[1]); err == nil && i < len(list) {
			return at(field, i)
		}
	}
	if m := duplicate.FindStringSubmatch(message); m != nil {
		first := slices.IndexFunc(list, func(item any) bool { return w.matchesStep(m[1], item) })
		for i := first + 1; first >= 0 && i < len(list); i++ {
			if w.matchesStep(m[1], list[i]) {
				return at(field, i)
			}
		}
	}
	return field
}

// matchesStep reports whether a step of a path leads to an item, by its value or its keys.
func (w *walk) matchesStep(step string, item any) bool {
	rest, ok := w.cutItem(step, -1, item)
	return ok && rest == ""
}
