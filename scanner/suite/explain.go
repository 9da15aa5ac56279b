package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

const (
	maxExplanations = 10
	maxValueBytes   = 200
)

// explained returns the first decisions of a review.
func explained(ctx context.Context, v *server.Verdict) ([]report.Explanation, error) {
	var all []report.Explanation
	for i := range v.Decisions[:min(len(v.Decisions), maxExplanations)] {
		d := &v.Decisions[i]
		readings, more, err := v.Explain(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("explain a decision of policy %s: %w", d.Policy.Name, err)
		}
		e := explanation(d)
		e.MoreValues = more
		for _, r := range readings {
			e.Values = append(e.Values, report.Value{Path: r.Path, Value: valueText(r), Missing: r.Missing})
		}
		all = append(all, e)
	}
	return all, nil
}

func explanation(d *policy.Decision) report.Explanation {
	e := report.Explanation{
		Policy: d.Policy.Name, Param: paramName(d.Param), Validation: d.Validation,
		Cause: string(d.Cause), Message: d.Message, Expression: d.Expression,
	}
	if d.Binding != nil {
		e.Binding = d.Binding.Name
	}
	for _, action := range d.Actions {
		e.Actions = append(e.Actions, string(action))
	}
	return e
}

func paramName(o *admission.Object) string {
	switch {
	case o == nil:
		return ""
	case o.Namespace() == "":
		return o.Name()
	}
	return o.Namespace() + "/" + o.Name()
}

// valueText returns a value as JSON, truncated after maxValueBytes.
func valueText(r policy.Reading) string {
	if r.Missing {
		return ""
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r.Value); err != nil {
		return fmt.Sprint(r.Value)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(text) <= maxValueBytes {
		return string(text)
	}
	cut := maxValueBytes
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}
