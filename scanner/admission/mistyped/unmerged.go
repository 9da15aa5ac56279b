package mistyped

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
)

// Errors about lists from clients that merge by keys (k8s.io/apimachinery/pkg/util/mergepatch, ErrNoMergeKey;
// k8s.io/apimachinery/pkg/util/strategicpatch, sliceElementType).
var (
	keyless = regexp.MustCompile(`(?s)map: (map\[.*\]) does not contain declared merge key: (\w+)$`)
	mixed   = regexp.MustCompile(`(?s)list element types are not identical: \[.*\]$`)
)

// unmerged returns the only item that cannot be in a list that is merged by a key, since it lacks the key or
// is no map. The message contains the whole item, or the whole list.
func unmerged(message string, object map[string]any) (field string, ok bool) {
	is := func(map[string]any) bool { return false }
	if m := keyless.FindStringSubmatch(message); m != nil {
		is = func(item map[string]any) bool {
			_, has := item[m[2]]
			return !has && fmt.Sprint(item) == m[1]
		}
	}
	isMixed := mixed.MatchString(message)
	var fields []string
	eachList("", object, func(field string, list []any) {
		odd := isMixed && strings.HasSuffix(message, fmt.Sprint(list)+"]") && slices.ContainsFunc(list, isMap)
		for i, item := range list {
			if m, ok := item.(map[string]any); ok && is(m) || !ok && odd {
				fields = append(fields, at(field, i))
			}
		}
	})
	if len(fields) != 1 {
		return "", false
	}
	return fields[0], true
}

func isMap(value any) bool { _, ok := value.(map[string]any); return ok }

// eachList calls do for each list inside a field.
func eachList(field string, value any, do func(field string, list []any)) {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			eachList(origin.AppendKey(field, key), value, do)
		}
	case []any:
		do(field, v)
		for i, item := range v {
			eachList(at(field, i), item, do)
		}
	}
}
