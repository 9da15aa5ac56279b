package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// Explanation is a decision against a request, with the values that led to it.
type Explanation struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding,omitempty"`
	// Param is namespace/name of the param, or its name.
	Param string `json:"param,omitempty"`
	// Validation is the index in spec.validations. It is -1 if no validation failed.
	Validation int          `json:"validation"`
	Cause      policy.Cause `json:"cause"`
	Actions    []string     `json:"actions"`
	// Message is the text of the server after "denied request: ".
	Message    string `json:"message"`
	Expression string `json:"expression,omitempty"`
	// Values are the values that the expression read, at most 20. MoreValues is set if
	// there are more.
	Values     []Value `json:"values,omitempty"`
	MoreValues bool    `json:"moreValues,omitempty"`
}

// Value is a value that an expression read.
type Value struct {
	// Path is like object.spec.containers[0].image.
	Path string `json:"path"`
	// Value is JSON text, cut after 200 bytes. Values of a Secret are masked. It is empty
	// if the field is missing.
	Value string `json:"value,omitempty"`
	// Missing is set if the field does not exist.
	Missing bool `json:"missing,omitempty"`
}

const (
	maxExplanations = 10
	maxValueBytes   = 200
)

// explain returns the first decisions of a review.
func explain(ctx context.Context, v *server.Verdict) ([]Explanation, error) {
	var all []Explanation
	for i := range v.Decisions[:min(len(v.Decisions), maxExplanations)] {
		d := &v.Decisions[i]
		readings, more, err := v.Explain(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("explain a decision of policy %s: %w", d.Policy.Name, err)
		}
		e := explanation(d)
		e.MoreValues = more
		for _, r := range readings {
			e.Values = append(e.Values, Value{Path: r.Path, Value: valueText(r), Missing: r.Missing})
		}
		all = append(all, e)
	}
	return all, nil
}

func explanation(d *policy.Decision) Explanation {
	e := Explanation{
		Policy: d.Policy.Name, Param: paramName(d.Param), Validation: d.Validation,
		Cause: d.Cause, Message: d.Message, Expression: d.Expression,
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

// valueText returns a value as JSON, cut after maxValueBytes.
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
