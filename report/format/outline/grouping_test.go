package outline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

// TestNotes: what notes say of several places is said once; warnings stay where they are.
func TestNotes(t *testing.T) {
	at := func(path string) *report.Location { return &report.Location{Path: path} }
	list := []report.Diagnostic{
		{Severity: "note", Message: "the same", Location: at("a")},
		{Severity: "warning", Message: "the same", Location: at("a")},
		{Severity: "note", Message: "the same", Location: at("b")},
		{Severity: "note", Message: "other", Root: "r"},
		{Severity: "warning", Message: "the same", Location: at("b")},
		{Severity: "note", Message: "the same", Root: "c"},
	}
	var got []string
	for _, r := range Notes(Remarks(list)) {
		got = append(got, r.Severity+" "+r.Message+r.AndOthers())
	}
	if d := cmp.Diff([]string{"note the same and 2 more", "warning the same", "note other", "warning the same"}, got); d != "" {
		t.Error(d)
	}
}

// TestReasonsWithoutVersions: artifacts that are not there are one reason.
func TestReasonsWithoutVersions(t *testing.T) {
	list := []report.Indeterminate{
		{What: "root", Why: "chart https://a.example/charts, name a, version 1 is not there: no charts were given; preadmit fetch gets it"},
		{What: "root", Why: "chart oci://b.example/charts, name b, version >=2 is not there: no charts were given; preadmit fetch gets it"},
		{What: "root", Why: "this root is gone: chart https://a.example/charts, name a, version 1 is not there: no charts were given"},
	}
	var got []string
	for _, u := range Reasons(list) {
		got = append(got, u.Why)
	}
	if d := cmp.Diff([]string{"chart … is not there: no charts were given; preadmit fetch gets it", list[2].Why}, got); d != "" {
		t.Error(d)
	}
}
