package mask_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// TestSecretsAreMaskedEverywhere: no format shows a value at any verbosity.
func TestSecretsAreMaskedEverywhere(t *testing.T) {
	const value = "aHVudGVyMg=="
	loc := func() report.Location {
		return report.Location{
			Path: "s.yaml", StartLine: 2, StartColumn: 13, EndLine: 2, EndColumn: 25, Tree: "head",
			SnippetLine: 1, Snippet: []string{"data:", "  password: " + value, "  other: |", "    " + value},
		}
	}
	shown := loc()
	shown.Snippet = append([]string{`{"kind": "Secret",`}, shown.Snippet...)
	main, other := loc(), loc()
	main.Related = []report.Location{loc()}
	secret := &report.Object{APIVersion: "v1", Kind: "Secret", Name: "db"}
	r := &report.Report{
		Findings: []report.Finding{
			{Status: report.StatusNew, Action: report.ActionDeny, Message: "m", Object: secret, Location: main},
			{Status: report.StatusNew, Action: report.ActionWarn, Message: "m", Location: shown},
			{Status: report.StatusResolved, Action: report.ActionWarn, Message: "m", Object: secret, Location: loc()},
		},
		Indeterminate: []report.Indeterminate{{What: "object", Why: "w", Object: secret, Location: &other}},
		Diagnostics:   []report.Diagnostic{{Severity: "error", Message: "m", Location: &shown}},
	}
	for _, name := range format.Formats() {
		for _, opts := range []format.Options{{}, {Verbose: true, Color: true}} {
			var b strings.Builder
			if err := format.Write(&b, name, r, opts); err != nil || strings.Contains(b.String(), value) {
				t.Errorf("%s with %+v shows the value, or fails: %v", name, opts, err)
			}
		}
	}
	if main.Snippet[1] != "  password: "+value {
		t.Error("the report itself was masked")
	}
}
