package format_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

const explainSchemaFile = "../../docs/explain.schema.json"

func TestExplainSchemaIsTheGoTypes(t *testing.T) {
	schemaIsType(t, explainSchemaFile, reflect.TypeFor[report.ExplainReport]())
}

// explanation returns an explanation with all fields set, and text that would break a line or a terminal.
func explanation() *report.ExplainReport {
	const hostile = "a\x1b[31m\n::error::b\u202e"
	part := report.ExplainedPart{Text: hostile, Line: 1, Column: 1, State: report.StateError, Why: hostile}
	return &report.ExplainReport{
		APIVersion: report.APIVersion, Kind: report.ExplainKind,
		Request: report.ExplainedRequest{Operation: "CREATE", APIVersion: "v1", Kind: "Pod", Namespace: "a", Name: hostile, User: hostile},
		Answer:  report.ExplainedAnswer{Code: 422, Reason: "Invalid", Message: hostile, Warnings: []string{hostile}, AuditAnnotations: map[string]string{hostile: hostile}, Indeterminate: []string{hostile}},
		Omitted: 3,
		Refused: []report.PolicyError{{Kind: "ValidatingAdmissionPolicy", Name: hostile, Message: hostile}},
		Policies: []report.ExplainedPolicy{{
			Kind: "ValidatingAdmissionPolicy", Name: hostile, Binding: hostile, Param: hostile, FailurePolicy: "Fail", Applies: "unknown",
			Matching: []report.ExplainedMatch{{Field: "spec.paramRef", Of: "binding", Result: "unknown", Why: hostile}},
			Expressions: []report.ExplainedExpression{
				{Field: "spec.validations[0].expression", Text: hostile, State: report.StateSkipped, Why: hostile},
				{Field: "spec.validations[1].expression", Text: hostile, State: report.StateValue, Value: hostile, Parts: []report.ExplainedPart{{
					Text: hostile, Line: 1, Column: 1, State: report.StateValue, Value: hostile, MoreRounds: 2, MoreParts: true, Parts: []report.ExplainedPart{part},
					Rounds: []report.ExplainedRound{{Bound: []report.ExplainedBound{{Name: "c", Value: hostile}}, Parts: []report.ExplainedPart{part}}},
				}}},
			},
			Costs:        []report.ExplainedCost{{Group: "validations", Cost: 1, Budget: 2, Exhausted: true}},
			TypeWarnings: []report.ExplainedTypeWarning{{Field: "spec.validations[0].expression", Warning: hostile}},
			Changes:      []string{"+" + hostile}, Notes: []string{hostile},
		}},
	}
}

// TestExplain: an explanation fits its schema, and all of it is plain text for a terminal and the
// log of a workflow.
func TestExplain(t *testing.T) {
	s := compile(t, explainSchemaFile)
	for _, name := range format.ExplainFormats() {
		var out bytes.Buffer
		if err := format.WriteExplain(&out, name, explanation(), format.Options{}); err != nil {
			t.Fatal(err)
		}
		if name == "json" {
			validate(t, s, out.Bytes())
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.ContainsAny(line, "\x1b\u202e") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

// TestExplainGeneratedName: an object without a name is named by its generateName.
func TestExplainGeneratedName(t *testing.T) {
	r := explanation()
	r.Request.Name, r.Request.GenerateName = "", "migrate-"
	var out bytes.Buffer
	if err := format.WriteExplain(&out, "text", r, format.Options{}); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(out.String(), " by "); first != "CREATE Pod a/migrate-*" {
		t.Errorf("it begins with %q", first)
	}
}

// TestExplainCompilerErrors: the lines with which a compiler marks the place of an error are lines.
func TestExplainCompilerErrors(t *testing.T) {
	r := explanation()
	r.Answer.Message = "compilation failed: ERROR: <input>:1:3: no such name\n | a+b\n | ..^"
	var out bytes.Buffer
	if err := format.WriteExplain(&out, "text", r, format.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n     | a+b\n     | ..^\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in\n%s", want, out.String())
	}
}
