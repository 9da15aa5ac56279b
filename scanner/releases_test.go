package scanner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/release"
)

// TestJoin checks that equal findings of several releases become one, and that counts of shared
// objects are not added up.
func TestJoin(t *testing.T) {
	finding := func(message string) report.Finding {
		return report.Finding{
			Status: report.StatusNew, Action: report.ActionDeny, Actions: []report.Action{report.ActionDeny}, Cause: report.CauseSchema,
			Message: message, Root: "a", Location: report.Location{Path: "a/x.yaml", StartLine: 1, Tree: "head"},
		}
	}
	object := report.Object{APIVersion: "v1", Kind: "Pod", Name: "x"}
	part := func(version, target string, messages ...string) *scanner.Part {
		r := &report.Report{Tool: report.Tool{Kubernetes: version}}
		for _, m := range messages {
			r.Findings = append(r.Findings, finding(m))
		}
		r.Summary = report.Summary{Requests: 2, Roots: report.RootCounts{Rendered: 3}, NoPolicies: &report.NoPolicies{Why: "x"}}
		r.Indeterminate = []report.Indeterminate{{What: "object", Why: "why", Root: "a", Object: &object}}
		return &scanner.Part{
			Release: release.Release{Version: version}, Report: r, Targets: []string{target},
			Policies: []string{"p"}, Objects: []scanner.PartObject{{Root: "a", Object: object}},
		}
	}
	second := part("v1.36.3", "new", "both", "only new")
	second.Report.Summary.NoPolicies = nil
	got := scanner.Join([]*scanner.Part{second, part("v1.34.0", "old", "both", "only old")})
	said := map[string][]string{}
	for _, f := range got.Findings {
		said[f.Message] = f.Kubernetes
	}
	want := map[string][]string{"both": {"v1.34.0", "v1.36.3"}, "only old": {"v1.34.0"}, "only new": {"v1.36.3"}}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
	s := got.Summary
	if got.Tool.Kubernetes != "v1.34.0, v1.36.3" || s.Requests != 4 || s.Roots.Rendered != 3 || s.Policies != 1 || s.NoPolicies != nil || len(got.Indeterminate) != 1 {
		t.Errorf("%+v of %s, %v", s, got.Tool.Kubernetes, got.Indeterminate)
	}
	if d := cmp.Diff(&report.Coverage{Objects: 1, Unknown: []report.UnknownCount{{Reason: "why", Objects: 1}}}, s.Coverage); d != "" {
		t.Error(d)
	}
	servers := []report.Server{{Version: "v1.34.0", Targets: []string{"old"}, Requests: 2}, {Version: "v1.36.3", Targets: []string{"new"}, Requests: 2}}
	if d := cmp.Diff(servers, s.Kubernetes); d != "" {
		t.Error(d)
	}
}
