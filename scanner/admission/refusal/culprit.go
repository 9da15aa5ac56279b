package refusal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/render/origin"
)

// keyOf returns the field of a map's key for an error that has the key, or its value, in its message only.
func keyOf(c metav1.StatusCause, object map[string]any) (string, bool) {
	if !plainMap.MatchString(c.Field) || !strings.HasPrefix(c.Message, "Invalid value: ") {
		return "", false
	}
	text, err := strconv.Unquote(culprit(c))
	value, _ := origin.Field(object, c.Field)
	content, ok := value.(map[string]any)
	if err != nil || !ok {
		return "", false
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(content)) {
		if key == text || content[key] == text {
			keys = append(keys, key)
		}
	}
	if len(keys) != 1 {
		return "", false
	}
	return origin.AppendKey(c.Field, keys[0]), true
}

// file matches a field of a file in a downwardAPI volume. Validation does not include the index of
// the file (k8s.io/kubernetes/pkg/apis/core/validation, validateDownwardAPIVolumeSource).
var file = regexp.MustCompile(`^(.*\bdownwardAPI)\.((?:path|fieldRef|resourceFieldRef|mode)\b.*)$`)

// itemOf returns the field of the only item of a list that may have an error whose field lacks the index.
func itemOf(c metav1.StatusCause, object map[string]any) (string, bool) {
	m := file.FindStringSubmatch(c.Field)
	if m == nil {
		return "", false
	}
	value, _ := origin.Field(object, m[1]+".items")
	items, _ := value.([]any)
	var fields []string
	for i := range items {
		field := fmt.Sprintf("%s.items[%d].%s", m[1], i, m[2])
		if value, ok := origin.Field(object, field); len(items) == 1 || ok && strings.Contains(c.Message, fmt.Sprintf(" value: %s: ", literal(value))) {
			fields = append(fields, field)
		}
	}
	if len(fields) != 1 {
		return "", false
	}
	return fields[0], true
}

// literal returns a value as errors show it.
func literal(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}
