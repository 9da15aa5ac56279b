package mask

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestOnlySecretsAreMasked(t *testing.T) {
	for _, lines := range [][]string{
		{"kind: SecretStore", "name: x"}, {"kind: SealedSecret", "name: x"}, {"- kind: ConfigMap", "  name: x"},
		{`  - group: ""`, "    kind: Secret", "    name: x"},
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

// TestMetadataOfASecretIsShown: metadata in block style is shown; the rest of an excerpt is masked.
func TestMetadataOfASecretIsShown(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"kind: Secret", "metadata:", "  name: db", "  labels:", "    app: x", "data:", "  p: hunter2"}, []string{"kind: Secret", "metadata:", "  name: db", "  labels:", "    app: x", "data:", "  p: ***"}},
		{[]string{"kind: Secret", "metadata: {name: db}", "stringData: {p: hunter2}"}, []string{"kind: Secret", "metadata: {name: db}", "stringData: ***"}},
		{[]string{"kind: Secret", "metadata: {name: db}, data: {p: hunter2}"}, []string{"kind: Secret", "metadata: ***"}},
		{[]string{"kind: Secret", "metadata:", "  {name: db}, data: {", "  p: hunter2"}, []string{"kind: Secret", "metadata:", "  {name: ***", "  p: ***"}},
		{[]string{"kind: Secret", "metadata:", "  annotations:", "    kubectl.kubernetes.io/last-applied-configuration: |", "      data: hunter2"},
			[]string{"kind: Secret", "metadata:", "  annotations:", "    kubectl.kubernetes.io/last-applied-configuration: ***", "      data: ***"}},
		{[]string{"kind: Secret", "data:", "  metadata:", "    name: hunter2"}, []string{"kind: Secret", "data:", "  metadata:", "    name: ***"}},
	} {
		if d := cmp.Diff(c.want, maskLines(c.in)); d != "" {
			t.Error(d)
		}
	}
}
