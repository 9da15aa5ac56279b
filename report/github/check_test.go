package github

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

func TestConclude(t *testing.T) {
	warned := findings(2)
	warned.Findings = warned.Findings[1:]
	existing := findings(3)
	for i := range existing.Findings {
		existing.Findings[i].Status = report.StatusExisting
	}
	unjudged := &report.Report{Indeterminate: []report.Indeterminate{{What: "root"}}}
	before := &report.Report{Indeterminate: []report.Indeterminate{{What: "root", Untouched: true}}}
	broken := &report.Report{Findings: []report.Finding{{Status: report.StatusNew, Action: report.ActionError, Cause: report.CauseRender}}}
	incomplete := &report.Report{}
	incomplete.Summary.Roots.Lost = 1
	for name, test := range map[string]struct {
		report   *report.Report
		failOn   string
		existing bool
		want     Conclusion
	}{
		"nothing":                     {&report.Report{}, "deny", false, Success},
		"denied":                      {findings(3), "", false, Failure},
		"denied, never fail":          {findings(3), "never", false, Success},
		"warned":                      {warned, "deny", false, Success},
		"warned, fail on it":          {warned, "warn", false, Failure},
		"existing":                    {existing, "deny", false, Success},
		"existing, asked for":         {existing, "deny", true, Failure},
		"not judged":                  {unjudged, "deny", false, Neutral},
		"not judged, never fail":      {unjudged, "never", false, Neutral},
		"not judged, fail on it":      {unjudged, "indeterminate", false, Failure},
		"never judged":                {before, "deny", false, Success},
		"never judged, and asked for": {before, "deny", true, Neutral},
		"incomplete":                  {incomplete, "deny", false, Failure},
		"not rendered":                {broken, "deny", false, Failure},
		"not rendered, never fail":    {broken, "never", false, Neutral},
		"no policy in force":          {&report.Report{Summary: report.Summary{NoPolicies: &report.NoPolicies{Why: "none"}}}, "deny", false, Neutral},
		"no policy, and required":     {&report.Report{Summary: report.Summary{NoPolicies: &report.NoPolicies{Why: "none", Required: true}}}, "deny", false, Failure},
	} {
		if got := Conclude(test.report, test.failOn, test.existing); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestChoose: entries with a place at the head in files of the pull request are chosen, the
// worst first, new before existing, otherwise in the report's order.
func TestChoose(t *testing.T) {
	at := func(path, tree string) *report.Location {
		return &report.Location{Path: path, StartLine: 2, Tree: tree}
	}
	r := findings(6) // audit, warn, deny, audit, warn, deny in apps/0.yaml
	r.Findings[2].Status = report.StatusExisting
	r.Findings[4].Status = report.StatusResolved
	elsewhere := findings(3).Findings[2]
	elsewhere.Location.Path = "base/x.yaml"
	deleted := findings(3).Findings[2]
	deleted.Location.Tree = "base"
	r.Findings = append(r.Findings, elsewhere, deleted)
	r.Indeterminate = []report.Indeterminate{
		{What: "root", Why: "remote base", Location: at("apps/0.yaml", "head")},
		{What: "root", Why: "as ever", Location: at("apps/0.yaml", "head"), Untouched: true},
		{What: "root", Why: "no place"},
		{What: "root", Why: "outside", Location: at("../x.yaml", "head")},
	}
	r.Diagnostics = []report.Diagnostic{{Severity: "note", Message: "a note", Location: at("apps/0.yaml", "head")}, {Severity: "error", Message: "an error"}}
	files := map[string]bool{"apps/0.yaml": true, "../x.yaml": true}
	for _, test := range []struct {
		opts   CheckOptions
		want   []string
		hidden int
	}{
		{CheckOptions{Files: files}, []string{
			"failure number 5 is too much", "warning number 1 is too much", "warning remote base",
			"notice number 0 is too much", "notice number 3 is too much", "notice a note",
		}, 3},
		{CheckOptions{Existing: true}, []string{
			"failure number 5 is too much", "failure number 2 is too much", "failure number 2 is too much", // the last one exists
			"warning number 1 is too much", "warning remote base", "warning as ever",
			"notice number 0 is too much", "notice number 3 is too much", "notice a note",
		}, 2},
	} {
		check, err := NewCheck(r, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range check.Annotations {
			first, _, _ := strings.Cut(a.Message, "\n")
			got = append(got, string(a.Level)+" "+first)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
		if check.Hidden != test.hidden {
			t.Errorf("%d hidden, want %d", check.Hidden, test.hidden)
		}
	}
}

// TestAnnotation checks every field of an annotation.
func TestAnnotation(t *testing.T) {
	r := findings(3)
	f := r.Findings[2]
	f.Policies, f.Expression, f.Binding, f.Reason = report.PoliciesProposed, "object.spec.replicas < 3", "all", "Invalid"
	f.Location.Field = "spec.replicas"
	f.Generated, f.Kubernetes = &report.Object{APIVersion: "v1", Kind: "Pod", Namespace: "shop", GenerateName: "web-"}, []string{"v1.34.0"}
	r.Findings = []report.Finding{f}
	check, err := NewCheck(r, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Annotation{{
		Path: "apps/0.yaml", StartLine: 3, EndLine: 3, StartColumn: 3, EndColumn: 8, Level: LevelFailure,
		Title:   "Would be denied: replicas",
		Message: "number 2 is too much\nUPDATE Deployment shop/web-2, the Pod it creates would be denied, with Kubernetes v1.34.0",
		Details: "expression: object.spec.replicas < 3\nbinding: all\nreason: Invalid\nfield: spec.replicas\nroot: apps",
	}}
	if diff := cmp.Diff(want, check.Annotations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnnotationRanges: ranges that GitHub does not accept are not sent.
func TestAnnotationRanges(t *testing.T) {
	for _, test := range []struct {
		l    report.Location
		want [4]int // lines, columns
	}{
		{report.Location{}, [4]int{1, 1, 0, 0}},
		{report.Location{StartLine: 4}, [4]int{4, 4, 0, 0}},
		{report.Location{StartLine: 4, StartColumn: 2}, [4]int{4, 4, 2, 2}},
		{report.Location{StartLine: 4, StartColumn: 2, EndLine: 4, EndColumn: 3}, [4]int{4, 4, 2, 2}},
		{report.Location{StartLine: 4, StartColumn: 2, EndLine: 5, EndColumn: 9}, [4]int{4, 5, 0, 0}},
		{report.Location{StartLine: 4, EndLine: 3}, [4]int{4, 4, 0, 0}},
	} {
		test.l.Path = "x.yaml"
		p := place{diagnostic: &report.Diagnostic{Severity: "error", Message: "m", Location: &test.l}}
		a, ok, err := p.annotation(Translation{})
		if got := [4]int{a.StartLine, a.EndLine, a.StartColumn, a.EndColumn}; got != test.want || !ok || err != nil {
			t.Errorf("%+v: %v, want %v", test.l, got, test.want)
		}
	}
}

// TestDigest: everything that a reader sees changes the digest, except how the text is
// cut.
func TestDigest(t *testing.T) {
	base := Check{Conclusion: Success, Title: "t", Summary: "s", Text: "x", Annotations: []Annotation{{Path: "a", Message: "m"}}}
	seen := map[string]bool{base.digest(): true}
	for _, change := range []func(*Check){
		func(c *Check) { c.Conclusion = Failure },
		func(c *Check) { c.Title = "u" },
		func(c *Check) { c.Summary = "u" },
		func(c *Check) { c.Text = "u" },
		func(c *Check) { c.Hidden = 1 },
		func(c *Check) { c.Over = 1 },
		func(c *Check) { c.Annotations = nil },
		func(c *Check) { c.Annotations = []Annotation{{Path: "a", Message: "m", StartLine: 2}} },
	} {
		c := base
		change(&c)
		if d := c.digest(); seen[d] {
			t.Errorf("%+v has the digest of another", c)
		}
		seen[c.digest()] = true
	}
}

// TestSummaryNamesWhatIsLeftOut: the note on missing annotations is kept when the rest is cut.
func TestSummaryNamesWhatIsLeftOut(t *testing.T) {
	for name, test := range map[string]struct {
		check Check
		url   string
		want  string
	}{
		"nothing left out": {Check{Summary: "s"}, "", "s"},
		"no summary":       {Check{Title: "t"}, "", "t"},
		"hidden":           {Check{Summary: "s", Hidden: 2}, "", "s\n\n_Places without annotation: 2; 2 are not in files that the pull request adds or changes._\n"},
		"both": {
			Check{Summary: "s", Over: 5, Hidden: 2, Annotations: make([]Annotation, MaxAnnotations+1)}, "https://x.example/1",
			"s\n\n_Places without annotation: 8; 6 are over the limit of 200, 2 are not in files that the pull request adds or changes._ The rest: <https://x.example/1>\n",
		},
	} {
		if got, _ := test.check.fit(test.url); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	long := Check{Summary: strings.Repeat("word\n", 50000), Hidden: 1}
	got, _ := long.fit("")
	if len(got) > MaxSummary || !strings.Contains(got, "more lines do not fit") || !strings.Contains(got, "without annotation: 1;") {
		t.Errorf("%d bytes that end in %q", len(got), got[len(got)-200:])
	}
}

// TestSecretsAreMasked: annotations mask the values of Secrets as all formats of the
// report do.
func TestSecretsAreMasked(t *testing.T) {
	r := findings(1)
	f := &r.Findings[0]
	f.Object.Kind = "Secret"
	f.Location.Snippet, f.Location.SnippetLine = []string{"password: hunter2"}, 1
	places, _ := choose(r, &CheckOptions{})
	if err := maskPlaces(r, places); err != nil {
		t.Fatal(err)
	}
	if got := places[0].finding.Location.Snippet[0]; strings.Contains(got, "hunter2") || !strings.HasPrefix(got, "password:") {
		t.Errorf("the excerpt is %q", got)
	}
	if f.Location.Snippet[0] != "password: hunter2" {
		t.Error("the report itself was changed")
	}
}

func TestMark(t *testing.T) {
	for _, pull := range []int{unknownPull, 0, 7} {
		m := mark{phaseDone, digest([]byte("a")), none, pull}
		if got, ok := readMark(m.String()); !ok || got != m {
			t.Errorf("%v reads as %v", m, got)
		}
	}
	for _, id := range []string{"", "preadmit", "preadmit/1", "preadmit/1/done", "preadmit/2/done/x/y", "x/preadmit/1/done/x/y", "preadmit/1/done/x/y/z", "preadmit/1/done/x/y/-1", "preadmit/1/done/x/y/7/8"} {
		if _, ok := readMark(id); ok {
			t.Errorf("%q is taken for ours", id)
		}
	}
	if commentMarker("a") == commentMarker("b") || strings.Contains(commentMarker("--> @all"), "@all") {
		t.Errorf("markers %s and %s", commentMarker("a"), commentMarker("--> @all"))
	}
}

// TestRoom: text within SummaryRoom and CommentRoom is not cut, whatever is added to it.
func TestRoom(t *testing.T) {
	c := Check{Summary: strings.Repeat("w", SummaryRoom), Over: 29800, Hidden: 12345}
	url := "https://github.com/" + strings.Repeat("o", 400)
	if got, _ := c.fit(url); !strings.HasPrefix(got, c.Summary) || len(got) > MaxSummary {
		t.Errorf("a summary of %d bytes is cut to %d", len(c.Summary), len(got))
	}
	p := &Publisher{opts: Options{Name: strings.Repeat("n", 300)}, target: Target{HeadSHA: strings.Repeat("a", 64)}}
	body := strings.Repeat("語", CommentRoom)
	if got := p.commentBody(Comment{Body: body}); !strings.Contains(got, body) || utf8.RuneCountInString(got) > MaxComment {
		t.Errorf("a comment is cut to %d characters", utf8.RuneCountInString(got))
	}
}
