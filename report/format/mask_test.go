package format

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
)

func TestMaskLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"---":                             "---",
		"kind: Secret":                    "kind: Secret",
		"data:":                           "data:",
		"  password: aHVudGVyMg==":        "  password: ***",
		"  kind: aHVudGVyMg==":            "  kind: ***",
		`  "tls.key": "abc",`:             `  "tls.key": ***`,
		"  - literal: x":                  "  - literal: ***",
		"- password=hunter2":              "- password=***",
		"PASSWORD=hunter2":                "PASSWORD=***",
		"    c2VjcmV0cw==":                "    ***",
		"    c2VjcmV0cw=":                 "    ***",
		"    -----BEGIN PRIVATE KEY-----": "    ***",
		"db.example.com:5432:db:me:pw":    "***",
		"# was: hunter2":                  "***",
		`{"data": {"p": "x"}}`:            `{"data": ***`,
		"  cert: |":                       "  cert: ***",
	} {
		if got := maskLine(in); got != want {
			t.Errorf("maskLine(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSecretsAreMaskedEverywhere: no format, at no verbosity, shows a value.
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
	for _, format := range Formats() {
		for _, opts := range []Options{{}, {Verbose: true, Color: true}} {
			if strings.Contains(written(t, format, r, opts), value) {
				t.Errorf("%s with %+v shows the value", format, opts)
			}
		}
	}
	if main.Snippet[1] != "  password: "+value {
		t.Error("the report itself was masked")
	}
}

func TestOnlySecretsAreMasked(t *testing.T) {
	for _, lines := range [][]string{
		{"kind: SecretStore", "name: x"}, {"kind: SealedSecret", "name: x"}, {"- kind: ConfigMap", "  name: x"},
	} {
		l := report.Location{Snippet: lines, SnippetLine: 1}
		if masked, changed := maskLocation(l, false); changed || masked.Snippet[1] != lines[1] {
			t.Errorf("%q was masked: %q", lines, masked.Snippet)
		}
	}
	for _, line := range []string{"kind: Secret", `"kind":"Secret"}`, "  kind: 'Secret'", "- kind: Secret # x", "stringData: {a: b}"} {
		if !showsSecret([]string{"x: y", line}) {
			t.Errorf("%q does not show a Secret", line)
		}
	}
}
