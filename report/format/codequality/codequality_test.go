package codequality_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/codequality"
)

// read decodes a document strictly: it must have the fields that GitLab reads, and no others.
func read(t *testing.T, document []byte) []string {
	t.Helper()
	var entries []struct {
		Description string `json:"description"`
		CheckName   string `json:"check_name"`
		Fingerprint string `json:"fingerprint"`
		Severity    string `json:"severity"`
		Location    struct {
			Path  string `json:"path"`
			Lines struct {
				Begin int `json:"begin"`
				End   int `json:"end"`
			} `json:"lines"`
		} `json:"location"`
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entries); err != nil {
		t.Fatalf("%v:\n%s", err, document)
	}
	if entries == nil {
		t.Errorf("not a list: %s", document)
	}
	var out []string
	seen := map[string]bool{}
	for _, e := range entries {
		if e.Fingerprint == "" || seen[e.Fingerprint] || e.Location.Path == "" || e.Location.Lines.Begin < 1 ||
			!slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, e.Severity) {
			t.Errorf("GitLab would not show %+v", e)
		}
		seen[e.Fingerprint] = true
		out = append(out, e.Severity+" "+e.CheckName+" "+e.Location.Path+": "+e.Description)
	}
	return out
}

// TestNoPolicies: there is an entry if no policy was in force.
func TestNoPolicies(t *testing.T) {
	r := &report.Report{Summary: report.Summary{NoPolicies: &report.NoPolicies{Why: "there is none"}}}
	want := []string{"minor preadmit/no-policies .preadmit.yaml: nothing was judged by policies: there is none"}
	if d := cmp.Diff(want, read(t, write(t, r, codequality.Options{}))); d != "" {
		t.Error(d)
	}
	if got := read(t, write(t, r, codequality.Options{Quiet: true})); len(got) != 0 {
		t.Errorf("quiet: %q", got)
	}
}

func TestWrite(t *testing.T) {
	first := 1
	object := &report.Object{Kind: "Deployment", Namespace: "shop", Name: "web"}
	at := report.Location{Path: "app/web.yaml", StartLine: 7, EndLine: 9}
	r := &report.Report{
		Findings: []report.Finding{
			{Fingerprint: "a", Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseValidation, Policy: "p", Validation: &first, Message: "too\n few", Operation: "UPDATE", Object: object, Location: at},
			{Fingerprint: "a", Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseValidation, Policy: "p", Message: "too few", Location: at},
			{Fingerprint: "p", Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseValidation, Policies: report.PoliciesProposed, Policy: "q", Message: "too few", Operation: "UPDATE", Object: object, Location: at},
			{Fingerprint: "b", Status: report.StatusExisting, Action: report.ActionWarn, Cause: report.CauseSchema, Message: "unknown field", Location: at},
			{Fingerprint: "c", Status: report.StatusNew, Action: report.ActionAudit, Cause: report.CausePolicy, Message: "noted", Root: "app"},
			{Fingerprint: "d", Status: report.StatusResolved, Action: report.ActionDeny, Cause: report.CausePolicy, Message: "gone"},
		},
		Indeterminate: []report.Indeterminate{
			{What: "root", Why: "it has a remote base", Root: "infra"},
			{What: "root", Why: "it has a remote base", Root: "infra", Untouched: true},
		},
	}
	all := []string{
		"critical p/validation-1 app/web.yaml: too few (UPDATE Deployment shop/web)",
		"critical p app/web.yaml: too few",
		"critical q app/web.yaml: too few (UPDATE Deployment shop/web, by the proposed policies)",
		"minor preadmit/schema app/web.yaml: unknown field",
		"info preadmit/policy app: noted",
		"minor preadmit/not-judged infra: not judged: it has a remote base",
		"minor preadmit/not-judged infra: not judged: it has a remote base",
	}
	for _, test := range []struct {
		opts codequality.Options
		want []string
	}{
		{codequality.Options{}, []string{all[0], all[1], all[2], all[4], all[5]}},
		{codequality.Options{Existing: true}, all},
		{codequality.Options{Quiet: true}, all[:3]},
	} {
		if diff := cmp.Diff(test.want, read(t, write(t, r, test.opts))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.opts, diff)
		}
	}
	if got := read(t, write(t, &report.Report{}, codequality.Options{})); len(got) != 0 {
		t.Errorf("of nothing: %q", got)
	}
}

func write(t *testing.T, r *report.Report, opts codequality.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := codequality.Write(w, r, opts); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
