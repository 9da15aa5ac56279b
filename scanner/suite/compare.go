package suite

import (
	"maps"
	"reflect"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// latencyAnnotations is the prefix of audit annotations that a server adds to slow requests.
const latencyAnnotations = "apiserver.latency.k8s.io/"

// diffVerdicts compares the fields that want states. Where the server chooses at random, any of its
// choices is accepted (Align). An indeterminate verdict is a difference unless want states that.
func diffVerdicts(want *Verdict, got Verdict) []report.Difference {
	timeless := *want
	timeless.AuditAnnotations = maps.Clone(want.AuditAnnotations)
	maps.DeleteFunc(timeless.AuditAnnotations, func(key, _ string) bool { return strings.HasPrefix(key, latencyAnnotations) })
	want = &timeless
	got = Align(*want, got)
	if len(got.Indeterminate) > 0 && len(want.Indeterminate) == 0 {
		return []report.Difference{{Field: "indeterminate", Actual: got.Indeterminate}}
	}
	var all []report.Difference
	w, g := reflect.ValueOf(*want), reflect.ValueOf(got)
	for i := range w.NumField() {
		field, _, _ := strings.Cut(w.Type().Field(i).Tag.Get("json"), ",")
		if field == "" || field == "name" || !want.stated.has(field) || field == "object" && want.Object == nil {
			continue
		}
		if d := diff(field, w.Field(i), g.Field(i)); d != nil {
			if field == "object" { // differences do not show values of Secrets
				d.Expected, d.Actual = policy.Shown(want.Object), policy.Shown(got.Object)
			}
			all = append(all, *d)
		}
	}
	return all
}

func diff(field string, want, got reflect.Value) *report.Difference {
	if reflect.DeepEqual(want.Interface(), got.Interface()) || isEmpty(want) && isEmpty(got) {
		return nil
	}
	return &report.Difference{Field: field, Expected: orAbsent(want), Actual: orAbsent(got)}
}

// isEmpty reports whether a value is absent or empty; verdicts do not distinguish these.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

// orAbsent returns a value, or nil if it is empty. False is not empty.
func orAbsent(v reflect.Value) any {
	if v.Kind() != reflect.Bool && isEmpty(v) {
		return nil
	}
	return v.Interface()
}

// diffPolicyErrors compares refusals by kind and name, even if expected.yaml has none: a refused
// policy has no effect.
func diffPolicyErrors(want, got []PolicyError) []report.Difference {
	var all []report.Difference
	rest := map[string][]PolicyError{}
	for _, g := range got {
		rest[g.field()] = append(rest[g.field()], g)
	}
	for _, w := range want {
		field := w.field()
		switch left := rest[field]; {
		case len(left) == 0:
			all = append(all, report.Difference{Field: field, Expected: w.text()})
		default:
			rest[field] = left[1:]
			if w.stated.has("message") && w.Message != left[0].Message {
				all = append(all, report.Difference{Field: field, Expected: w.Message, Actual: left[0].Message})
			}
		}
	}
	for _, g := range got {
		if left := rest[g.field()]; len(left) > 0 {
			rest[g.field()] = left[1:]
			all = append(all, report.Difference{Field: g.field(), Actual: left[0].Message})
		}
	}
	return all
}

func (e *PolicyError) field() string { return "policyErrors[" + e.Kind + "/" + e.Name + "]" }

func (e *PolicyError) text() string {
	if e.Message == "" {
		return "refused"
	}
	return e.Message
}
