package policy

import "strings"

// maxAnnotationValue is the maximum length of the value of an audit annotation, in bytes; the server
// truncates longer ones.
const maxAnnotationValue = 10 * 1024

// annotations collects the audit annotations of one policy over its bindings and params.
type annotations struct {
	keys   []string
	values map[string][]string
}

func (a *annotations) add(key, value string) {
	if len(value) > maxAnnotationValue {
		value = value[:maxAnnotationValue]
	}
	for _, v := range a.values[key] {
		if v == value {
			return
		}
	}
	if len(a.values[key]) == 0 {
		a.keys = append(a.keys, key)
	}
	if a.values == nil {
		a.values = map[string][]string{}
	}
	a.values[key] = append(a.values[key], value)
}

func (a *annotations) publish(policy string, o *Outcome) {
	for _, key := range a.keys {
		if o.AuditAnnotations == nil {
			o.AuditAnnotations = map[string]string{}
		}
		o.AuditAnnotations[policy+"/"+key] = strings.Join(a.values[key], ", ")
	}
}
