package outline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

// TestNotes: notes that differ only in their places are merged; warnings are not.
func TestNotes(t *testing.T) {
	at := func(path string) *report.Location { return &report.Location{Path: path} }
	list := []report.Diagnostic{
		{Severity: "note", Message: "the same", Location: at("a")},
		{Severity: "warning", Message: "the same", Location: at("a")},
		{Severity: "note", Message: "the same", Location: at("b")},
		{Severity: "note", Message: "other", Root: "r"},
		{Severity: "warning", Message: "the same", Location: at("b")},
		{Severity: "note", Message: "the same", Root: "c"},
		{Severity: "note", Message: "Service/a/b is gone from apps/a, apps/b and new in apps/c: each way"},
		{Severity: "note", Message: "Service/c is gone from apps/d and new in apps/e, apps/f and apps/g: each way"},
		{Severity: "note", Message: "Service/c is gone from apps/d: it stays"},
	}
	var got []string
	for _, r := range Notes(Remarks(list)) {
		got = append(got, r.Severity+" "+r.Message+r.AndOthers())
	}
	if d := cmp.Diff([]string{"note the same and 2 more", "warning the same", "note other", "warning the same",
		"note Service/a/b is gone from apps/a, apps/b and new in apps/c: each way and 1 more", "note Service/c is gone from apps/d: it stays"}, got); d != "" {
		t.Error(d)
	}
}

// TestReasonsWithoutVersions: missing artifacts are one reason.
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

// TestReasonsBeforeAndAfter: the same reason at the base and at the head is one reason.
func TestReasonsBeforeAndAfter(t *testing.T) {
	list := []report.Indeterminate{
		{What: "unused manifest", Why: "was used by no kustomization", Location: &report.Location{Path: "a.yaml", Tree: "base"}},
		{What: "unused manifest", Why: "is used by no kustomization", Location: &report.Location{Path: "b.yaml"}},
	}
	reasons := Reasons(list)
	if len(reasons) != 1 || reasons[0].Why != "is used by no kustomization" {
		t.Fatalf("%d reasons, %q", len(reasons), reasons[0].Why)
	}
	for i, want := range []string{"a.yaml (base)", "b.yaml"} {
		if got := reasons[0].Places[i].Text(false); got != want {
			t.Errorf("place %q, want %q", got, want)
		}
	}
}

// TestEntriesWithoutNames: the refusal of many objects at one line is one entry, although
// each message has the name of the object.
func TestEntriesWithoutNames(t *testing.T) {
	refused := func(name, message string) report.Finding {
		return report.Finding{Status: report.StatusNew, Message: message, Object: &report.Object{Kind: "PersistentVolumeClaim", Name: name}}
	}
	in := func(namespace string, f report.Finding) report.Finding {
		f.Object.Namespace = namespace
		return f
	}
	var got []int
	for _, e := range Entries([]report.Finding{
		in("shop", refused("d", "(shop/d; v1)")), in("stock", refused("d", "(stock/d; v1)")),
		refused("data", `PersistentVolumeClaim "data" is invalid: spec: Forbidden`),
		refused("media", `PersistentVolumeClaim "media" is invalid: spec: Forbidden`),
		refused("data", `PersistentVolumeClaim "data" is invalid: metadata: Forbidden`),
		refused("a", `PersistentVolumeClaim "a" is invalid: spec: Forbidden`),
		refused("a", "a-b is in (shop/a; v1)"),
		refused("c", "a-b is in (shop/c; v1)"),
		refused("b", "a-b is in (shop/a; v1)"),
	}, false) {
		got = append(got, 1+len(e.Also))
	}
	if d := cmp.Diff([]int{2, 3, 1, 2, 1}, got); d != "" {
		t.Error(d)
	}
}
