package explain

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// seal returns a function that replaces the values that policies copied from Secrets into the object;
// nil if they copied none. A result that is the same for both objects depends on no Secret.
func (x *explainer) seal() func(map[string]any) map[string]any {
	if x.before == nil || len(x.secrets.values) == 0 {
		return nil
	}
	return func(content map[string]any) map[string]any {
		sealed, _ := x.secrets.sealed(content, x.before).(map[string]any)
		return sealed
	}
}

// sealed returns a copy of v in which hidden values that are not in before are replaced.
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

// other returns a text that differs from the given one in letters and length.
func other(text string) string { return text + "\ue5ec" }

// invokedAgain records what policies wrote when they were invoked again. These invocations are not
// evaluated, and may use values that another policy copied from a Secret.
func (s *hidden) invokedAgain(all []*applications) {
	for _, policy := range all {
		for i := range policy.made {
			if one := &policy.made[i]; !one.taken {
				s.written(one.writes[len(one.writes)-1].After, one.writes[0].Before)
			}
		}
	}
}

// written records the values in which v differs from before.
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

// quotes are the quotes that a server may put around a value.
var quotes = []string{`"`, `\"`, "'", "`"}

// redact returns a server's text without hidden values. It masks short values only where they are quoted,
// or at the end after a colon.
func (s *hidden) redact(text string) string {
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

// answer returns the server's response without content of Secrets.
func (x *explainer) answer() report.ExplainedAnswer {
	v := x.verdict
	r, told := v.Response(), v.Redacted()
	redact := func(text string) string {
		if known, ok := told[text]; ok && known != text {
			return known
		}
		return x.secrets.redact(text)
	}
	a := report.ExplainedAnswer{
		Allowed: r.Allowed, Code: int(r.Code), Reason: string(r.Reason), Message: redact(r.Message),
		AuditAnnotations: map[string]string{}, Indeterminate: v.Open(),
	}
	for _, w := range r.Warnings {
		a.Warnings = append(a.Warnings, redact(w))
	}
	for key, value := range r.AuditAnnotations {
		if a.AuditAnnotations[key] = x.secrets.redact(value); x.secret() || x.secrets.audit[key] {
			a.AuditAnnotations[key] = policy.Masked
		}
	}
	return a
}
