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

// TestJoinNoPolicies checks that required policies are missing in the joined report also if the
// first part makes no requests and has nothing to report.
func TestJoinNoPolicies(t *testing.T) {
	none, required := &report.NoPolicies{Why: "x"}, &report.NoPolicies{Why: "x", Required: true}
	type summary = report.Summary
	for name, test := range map[string]struct {
		first, second summary
		want          *report.NoPolicies
	}{
		"the first has no requests":  {summary{}, summary{Requests: 1, NoPolicies: required}, required},
		"the second has no requests": {summary{Requests: 1, NoPolicies: required}, summary{}, required},
		"one has policies":           {summary{Requests: 1}, summary{Requests: 1, NoPolicies: required}, nil},
		"the other has policies":     {summary{Requests: 1, NoPolicies: required}, summary{Requests: 1}, nil},
		"one requires them":          {summary{Requests: 1, NoPolicies: none}, summary{Requests: 1, NoPolicies: required}, required},
		"no requests":                {summary{}, summary{}, nil},
	} {
		got := scanner.Join([]*scanner.Part{
			{Release: release.Release{Version: "v1.34.0"}, Report: &report.Report{Summary: test.first}},
			{Release: release.Release{Version: "v1.36.3"}, Report: &report.Report{Summary: test.second}},
		})
		if d := cmp.Diff(test.want, got.Summary.NoPolicies); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if want := report.VerdictIncomplete; test.want != nil && got.Verdict("deny", false) != want {
			t.Errorf("%s: verdict %v, want %v", name, got.Verdict("deny", false), want)
		}
	}
}

// TestJoinCharts checks that policies read nothing of a new chart version only if those of no
// release do, and that parts count only for the roots that they judge.
func TestJoinCharts(t *testing.T) {
	part := func(version string, chart report.ChartChange, elsewhere ...string) *scanner.Part {
		chart.Root, chart.Chart, chart.From, chart.To = "r", "c", "1", "2"
		return &scanner.Part{
			Release: release.Release{Version: version}, Elsewhere: elsewhere,
			Report: &report.Report{Charts: []report.ChartChange{chart}},
		}
	}
	read, unread := report.ChartChange{Added: 1}, report.ChartChange{Added: 2, Unread: true}
	for name, test := range map[string]struct {
		parts []*scanner.Part
		want  report.ChartChange
	}{
		"read by the second":     {[]*scanner.Part{part("v1.34.0", unread), part("v1.36.3", read)}, report.ChartChange{Added: 2}},
		"read by the first":      {[]*scanner.Part{part("v1.34.0", read), part("v1.36.3", unread)}, report.ChartChange{Added: 1}},
		"unread":                 {[]*scanner.Part{part("v1.34.0", unread), part("v1.36.3", unread)}, unread},
		"only the second's":      {[]*scanner.Part{part("v1.34.0", read, "r"), part("v1.36.3", unread)}, unread},
		"only the first's":       {[]*scanner.Part{part("v1.34.0", unread), part("v1.36.3", read, "r")}, unread},
		"of no target of either": {[]*scanner.Part{part("v1.34.0", read, "r"), part("v1.36.3", read, "r")}, read},
	} {
		test.want.Root, test.want.Chart, test.want.From, test.want.To = "r", "c", "1", "2"
		if d := cmp.Diff([]report.ChartChange{test.want}, scanner.Join(test.parts).Charts); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	failed := &scanner.Part{Report: &report.Report{Indeterminate: []report.Indeterminate{{What: "root", Root: "r"}}}}
	if got := scanner.Join([]*scanner.Part{failed, part("v1.36.3", unread, "r")}).Charts; len(got) != 1 || got[0].Unread {
		t.Errorf("a unit that does not render for the version that judges it: got %+v, want that it is not known whether policies read the chart", got)
	}
	two := part("v1.34.0", report.ChartChange{Location: report.Location{Path: "app.yaml", StartLine: 5}})
	other := two.Report.Charts[0]
	other.Location.StartLine = 9
	two.Report.Charts = append(two.Report.Charts, other)
	if got := scanner.Join([]*scanner.Part{two, two}).Charts; len(got) != 2 {
		t.Errorf("two sources of an Application with one chart: got %d, want 2", len(got))
	}
}
