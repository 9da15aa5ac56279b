package lines

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/render/origin"
)

// FieldsAtFault returns the fields of a cause of the server's refusal: its field or, if that is immutable, the
// changed fields in it. before and after are the contents of the objects.
func FieldsAtFault(cause metav1.StatusCause, before, after map[string]any) []string {
	if !immutableField.MatchString(cause.Message) {
		return []string{cause.Field}
	}
	old, existed := origin.Field(before, cause.Field)
	young, exists := origin.Field(after, cause.Field)
	if !existed || !exists {
		return []string{cause.Field}
	}
	exceptions := exceptionsOf(cause.Message)
	changed := slices.DeleteFunc(differing(cause.Field, old, young), func(field string) bool { return mayChange(field, cause.Field, exceptions) })
	if len(changed) == 0 {
		return []string{cause.Field}
	}
	return changed
}

// NarrowToChange returns the fields that the server refuses of an object that it did not refuse before, each as the
// only field in it that differs: that change is the reason. Fields with several changes are returned unchanged.
func NarrowToChange(fields []string, before, after map[string]any) []string {
	narrow := slices.Clone(fields)
	for i, field := range fields {
		old, existed := origin.Field(before, field)
		young, exists := origin.Field(after, field)
		if !existed || !exists {
			continue
		}
		if changed := differing(field, old, young); len(changed) == 1 {
			narrow[i] = changed[0]
		}
	}
	return narrow
}

// immutableField matches refusals of a change (k8s.io/apimachinery/pkg/api/validation, FieldImmutableErrorMsg, and
// those of StatefulSets, Pods, PersistentVolumeClaims, role references and StorageClasses).
var immutableField = regexp.MustCompile(`field is immutable|is immutable after creation|fields other than|cannot change roleRef|updates to \w+ are forbidden`)

// exception matches the words before a list of fields that may change, and the rest of the sentence.
var exception = regexp.MustCompile(`(?:fields other than|immutable after creation except)([^\n]*)`)

var fieldName = regexp.MustCompile(`[A-Za-z][A-Za-z0-9.\[\]*]*`)

// exceptionsOf returns the fields that may change according to a message.
func exceptionsOf(message string) []string {
	m := exception.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	return fieldName.FindAllString(m[1], -1)
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// mayChange reports whether a field of another one is an exception, or inside of one. Messages name exceptions
// relative to the object or to the other field, with [*] for any element of a list.
func mayChange(field, in string, exceptions []string) bool {
	field = listIndex.ReplaceAllString(field, "[*]")
	return slices.ContainsFunc(exceptions, func(name string) bool {
		return isWithin(field, name) || isWithin(field, in+"."+name)
	})
}

// isWithin reports whether a field is equal to or inside another one.
func isWithin(field, other string) bool {
	rest, ok := strings.CutPrefix(field, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// differing returns the innermost fields in a field whose values differ.
func differing(field string, old, young any) []string {
	if reflect.DeepEqual(old, young) {
		return nil
	}
	var changed []string
	switch a := old.(type) {
	case map[string]any:
		b, ok := young.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Concat(slices.Sorted(maps.Keys(b)), slices.Sorted(maps.Keys(a)))
		for _, key := range keys {
			if at := origin.AppendKey(field, key); !slices.Contains(changed, at) {
				changed = append(changed, differing(at, a[key], b[key])...)
			}
		}
	case []any:
		b, ok := young.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for i := range a {
			changed = append(changed, differing(field+"["+strconv.Itoa(i)+"]", a[i], b[i])...)
		}
	}
	if len(changed) == 0 {
		return []string{field}
	}
	return changed
}
