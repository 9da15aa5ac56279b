package explain

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// seal returns what sets other values for what policies copied from Secrets into the object; nil when
// they copied nothing. A value that is the same for both depends on no Secret.
func (x *explainer) seal() func(map[string]any) map[string]any {
	if x.before == nil || len(x.secrets.values) == 0 {
		return nil
	}
	return func(content map[string]any) map[string]any {
		sealed, _ := x.secrets.sealed(content, x.before).(map[string]any)
		return sealed
	}
}

// sealed returns a value with others in place of those that are held and were not there before.
func (s *hidden) sealed(v, before any) any {
	switch v := v.(type) {
	case map[string]any:
		was, _ := before.(map[string]any)
		out := make(map[string]any, len(v))
		for key, item := range v {
			old, there := was[key]
			if !there && s.values[key] {
				key = other(key)
			}
			out[key] = s.sealed(item, old)
		}
		return out
	case []any:
		was, _ := before.([]any)
		out := make([]any, len(v))
		for i := range v {
			var old any
			if len(was) == len(v) {
				old = was[i]
			}
			out[i] = s.sealed(v[i], old)
		}
		return out
	case string:
		if s.values[v] && v != before {
			return other(v)
		}
	case bool:
		if s.values[fmt.Sprint(v)] && v != before {
			return !v
		}
	case int64:
		if s.values[fmt.Sprint(v)] && v != before {
			return v + 1
		}
	case float64:
		if s.values[fmt.Sprint(v)] && !reflect.DeepEqual(v, before) {
			return v + 1
		}
	}
	return v
}

// other is a text that differs from another in its letters and its length.
func other(text string) string { return text + "\ue5ec" }

// invokedAgain notes what policies wrote when they were invoked again, which is not evaluated here: it
// may be made of what another copied from a Secret.
func (s *hidden) invokedAgain(all []*applications) {
	for _, policy := range all {
		for i := range policy.made {
			if one := &policy.made[i]; !one.taken {
				s.written(one.writes[len(one.writes)-1].After, one.writes[0].Before)
			}
		}
	}
}

// written notes in what a value differs from the one before.
func (s *hidden) written(v, before any) {
	switch v := v.(type) {
	case map[string]any:
		was, _ := before.(map[string]any)
		for key, item := range v {
			s.written(item, was[key])
		}
	case []any:
		was, _ := before.([]any)
		for i := range v {
			var old any
			if len(was) == len(v) {
				old = was[i]
			}
			s.written(v[i], old)
		}
	case nil:
	default:
		if !reflect.DeepEqual(v, before) {
			s.hold(fmt.Sprint(v))
		}
	}
}

// quotes are what may be around a value in the words of a server.
var quotes = []string{`"`, `\"`, "'", "`"}

// told returns what a server says without what must not be shown of it: values of a few characters where
// they are quoted, or end it.
func (s *hidden) told(text string) string {
	text = s.in(text)
	for value := range s.values {
		for _, quote := range quotes {
			text = strings.ReplaceAll(text, quote+value+quote, quote+policy.Masked+quote)
		}
		if head, ok := strings.CutSuffix(text, ": "+value); ok {
			text = head + ": " + policy.Masked
		}
	}
	return text
}

// answer is the server's answer, without what it shows of a Secret.
func (x *explainer) answer() report.ExplainedAnswer {
	v := x.verdict
	r, told := v.Response(), v.Told()
	say := func(text string) string {
		if known, ok := told[text]; ok && known != text {
			return known
		}
		return x.secrets.told(text)
	}
	a := report.ExplainedAnswer{
		Allowed: r.Allowed, Code: int(r.Code), Reason: string(r.Reason), Message: say(r.Message),
		AuditAnnotations: map[string]string{}, Indeterminate: v.Open(),
	}
	for _, w := range r.Warnings {
		a.Warnings = append(a.Warnings, say(w))
	}
	for key, value := range r.AuditAnnotations {
		if a.AuditAnnotations[key] = x.secrets.told(value); x.secret() || x.secrets.audit[key] {
			a.AuditAnnotations[key] = policy.Masked
		}
	}
	return a
}
