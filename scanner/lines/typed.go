package lines

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
)

// TypedFields returns the fields that a server names where what is applied has another type than the schema says, as in
// `.spec.containers[name="web"].imge: field not declared in schema` (sigs.k8s.io/structured-merge-diff/typed,
// ValidationErrors). Of a field that the object does not have it is the nearest above.
func TypedFields(message string, content map[string]any) (fields []string) {
	_, errs, ok := strings.Cut(message, "): ")
	if !ok || !strings.HasPrefix(message, "failed to create typed patch object") {
		return nil
	}
	for line := range strings.Lines(errs) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, ".") {
			if field := typedField(line, content); field != "" {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// typedField follows a path through a value, as far as the value has it.
func typedField(path string, value any) (field string) {
	for {
		switch v := value.(type) {
		case map[string]any:
			key, ok := keyAt(path, v)
			if !ok {
				return field
			}
			path, value, field = path[1+len(key):], v[key], origin.AppendKey(field, key)
		case []any:
			element := elementAt.FindString(path)
			index := itemOf(v, strings.TrimSuffix(strings.TrimPrefix(element, "["), "]"))
			if element == "" || index < 0 {
				return field
			}
			path, value, field = path[len(element):], v[index], fmt.Sprintf("%s[%d]", field, index)
		default:
			return field
		}
	}
}

// elementAt matches an item of a list: an index, a value, or keys with their values, which may be texts in quotes.
var elementAt = regexp.MustCompile(`^\[(?:"(?:[^"\\]|\\.)*"|[^"\]])*\]`)

// keyAt returns the key of a mapping that a path goes on with. Keys are not quoted there, and may have dots.
func keyAt(path string, in map[string]any) (key string, ok bool) {
	if !strings.HasPrefix(path, ".") {
		return "", false
	}
	for k := range in {
		rest, has := strings.CutPrefix(path[1:], k)
		if has && (rest == "" || strings.ContainsRune(".[:", rune(rest[0]))) && (!ok || len(k) > len(key)) {
			key, ok = k, true
		}
	}
	return key, ok
}

// itemOf returns the index of the item of a list that an element of a path names; -1 when there is none.
func itemOf(list []any, element string) int {
	if n, err := strconv.Atoi(element); err == nil && n < len(list) {
		return n
	}
	for i, item := range list {
		if value, ok := strings.CutPrefix(element, "="); ok && value == typedText(item) {
			return i
		}
		if m, ok := item.(map[string]any); ok && hasKeys(m, element) {
			return i
		}
	}
	return -1
}

// hasKeys reports whether an item of a list has the keys that an element of a path names. A key that
// the item does not have has its default there.
func hasKeys(item map[string]any, element string) bool {
	found := false
	for key, value := range item {
		for _, m := range keyInElement.FindAllStringSubmatch(element, -1) {
			if m[1] != key {
				continue
			}
			if m[2] != typedText(value) {
				return false
			}
			found = true
		}
	}
	return found
}

var keyInElement = regexp.MustCompile(`(?:^|,)(\w+)=("(?:[^"\\]|\\.)*"|[^",]*)`)

// typedText is a value as a path has it.
func typedText(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}
