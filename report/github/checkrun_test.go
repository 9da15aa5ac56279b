package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
)

// publish publishes in all places, as the Action does.
func publish(t *testing.T, p *Publisher, r *report.Report) (check, comment, sarif Published) {
	t.Helper()
	ctx := context.Background()
	if err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
	sarif, err := p.UploadSARIF(ctx, []byte(`{"runs":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	check, err = p.Finish(ctx, r, CheckOptions{Summary: markdown(r)})
	if err != nil {
		t.Fatal(err)
	}
	comment, err = p.Comment(ctx, Comment{Body: markdown(r)})
	if err != nil {
		t.Fatal(err)
	}
	return check, comment, sarif
}

// TestPublishIsIdempotent: the second time nothing is written, for reports of any size.
func TestPublishIsIdempotent(t *testing.T) {
	for _, n := range []int{1, 60, 6000, 30000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s, r := hub(t, githubtest.Config{}), findings(n)
			changed(s, r)
			p, _ := publisher(t, s, pullTarget(), Options{})
			check, comment, sarif := publish(t, p, r)
			if !check.Changed || !comment.Changed || !sarif.Changed {
				t.Fatalf("first: %+v %+v %+v, want all changed", check, comment, sarif)
			}
			wantRun(t, s, n)
			s.Forget()
			again, _ := publisher(t, s, pullTarget(), Options{})
			check2, comment2, sarif2 := publish(t, again, r)
			if check2.Changed || comment2.Changed || sarif2.Changed {
				t.Errorf("second: %+v %+v %+v, want none changed", check2, comment2, sarif2)
			}
			if check2.URL != check.URL || check.URL == "" || comment2.URL != comment.URL || comment.URL == "" {
				t.Errorf("pages %q and %q, first %q and %q", check2.URL, comment2.URL, check.URL, comment.URL)
			}
			if w := writes(s); len(w) != 0 {
				t.Errorf("the second time wrote %v", w)
			}
			if n := len(s.Requests()); n == 0 {
				t.Error("the second time asked nothing: the log does not work")
			}
		})
	}
}

// wantRun checks that there is one check run, with n findings.
func wantRun(t *testing.T, s *githubtest.Server, n int) {
	t.Helper()
	runs := s.CheckRuns()
	if len(runs) != 1 {
		t.Fatalf("%d check runs, want 1", len(runs))
	}
	run := runs[0]
	if run.Status != "completed" || run.HeadSHA != head || run.Name != "preadmit" || run.DetailsURL != pullTarget().DetailsURL {
		t.Errorf("run %+v", run)
	}
	want := Failure
	if n == 1 { // one audit note
		want = Success
	}
	if run.Conclusion != string(want) {
		t.Errorf("conclusion %s, want %s", run.Conclusion, want)
	}
	if got := len(run.Annotations); got != min(n, MaxAnnotations) {
		t.Errorf("%d annotations, want %d", got, min(n, MaxAnnotations))
	}
	listed := min(n, MaxFiles*10) // ten findings per file
	if over := listed - MaxAnnotations; over > 0 && !strings.Contains(run.Summary, fmt.Sprintf("without annotation: %d;", over)) {
		t.Errorf("the summary does not tell that %d are left out: …%s", over, run.Summary[len(run.Summary)-200:])
	}
	if n >= 6000 && !strings.Contains(run.Summary, "more lines do not fit") {
		t.Error("the summary was not cut")
	}
	order := map[string]int{"failure": 0, "warning": 1, "notice": 2}
	for i := 1; i < len(run.Annotations); i++ {
		if order[run.Annotations[i-1].Level] > order[run.Annotations[i].Level] {
			t.Fatalf("annotation %d is worse than the one before it", i)
		}
	}
	check, err := NewCheck(findings(n), CheckOptions{})
	if err != nil || len(check.Annotations) != min(n, MaxAnnotations) || check.Over != max(0, n-MaxAnnotations) {
		t.Errorf("the check has %d annotations and leaves out %d, %v", len(check.Annotations), check.Over, err)
	}
	seen := map[string]bool{}
	for _, a := range run.Annotations {
		key := fmt.Sprint(a.Path, a.StartLine)
		if seen[key] {
			t.Fatalf("%s is annotated twice", key)
		}
		seen[key] = true
	}
}

func TestStartShowsThatItWorks(t *testing.T) {
	s := hub(t, githubtest.Config{})
	p, _ := publisher(t, s, pullTarget(), Options{})
	ctx := context.Background()
	for range 2 {
		if err := p.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	runs := s.CheckRuns()
	if len(runs) != 1 || runs[0].Status != "in_progress" {
		t.Fatalf("runs %+v, want one in progress", runs)
	}
	want := []string{"POST check-runs 201"}
	if diff := cmp.Diff(want, writes(s)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestOtherContentMakesANewRun: annotations cannot be removed from a run.
func TestOtherContentMakesANewRun(t *testing.T) {
	s, r := hub(t, githubtest.Config{}), findings(3)
	changed(s, r)
	p, _ := publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	s.Intercept(githubtest.Rule{Method: "POST", Path: "/check-runs", Status: 500})
	p, _ = publisher(t, s, pullTarget(), Options{})
	publish(t, p, findings(1))
	runs := s.CheckRuns()
	if len(runs) != 2 || len(runs[0].Annotations) != 3 || len(runs[1].Annotations) != 1 {
		t.Fatalf("runs %+v, want one with 3 annotations and one with 1", runs)
	}
	if runs[1].Status != "completed" || runs[1].Conclusion != string(Success) || runs[0].Conclusion != string(Failure) {
		t.Errorf("the old run is %s, the new one %s %s", runs[0].Conclusion, runs[1].Status, runs[1].Conclusion)
	}
}

// TestRunWithoutAnnotationsIsUpdated: it is updated in place, also to content with annotations.
func TestRunWithoutAnnotationsIsUpdated(t *testing.T) {
	s, r := hub(t, githubtest.Config{}), findings(60)
	changed(s, r)
	for _, report := range []*report.Report{{}, r} {
		p, _ := publisher(t, s, pullTarget(), Options{})
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Finish(context.Background(), report, CheckOptions{Summary: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	wantRun(t, s, 60)
}

// TestOnlyFilesOfThePullRequestAreAnnotated, with several pages of files. Removed files
// are not annotated.
func TestOnlyFilesOfThePullRequestAreAnnotated(t *testing.T) {
	s, r := hub(t, githubtest.Config{PageSize: 1}), findings(60)
	s.SetFiles(githubtest.File{Path: "README.md"}, githubtest.File{Path: "apps/2.yaml", Status: "removed"},
		githubtest.File{Path: "apps/4.yaml", Status: "renamed"}, githubtest.File{Path: "apps/5.yaml"})
	p, _ := publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	run := s.CheckRuns()[0]
	got := map[string]int{}
	for _, a := range run.Annotations {
		got[a.Path]++
	}
	if diff := cmp.Diff(map[string]int{"apps/4.yaml": 10, "apps/5.yaml": 10}, got); diff != "" {
		t.Errorf("annotations by file (-want +got):\n%s", diff)
	}
	if !strings.Contains(run.Summary, "without annotation: 40; 40 are not in files that the pull request adds or changes") {
		t.Errorf("the summary ends in %q", run.Summary[len(run.Summary)-150:])
	}
}

// TestWithoutPullRequest: all files may be annotated, and no files are listed.
func TestWithoutPullRequest(t *testing.T) {
	s := hub(t, githubtest.Config{})
	target := pullTarget()
	target.Pull, target.Ref, target.RefSHA = 0, "refs/heads/main", ""
	p, _ := publisher(t, s, target, Options{})
	if _, err := p.Finish(context.Background(), findings(60), CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.CheckRuns()[0].Annotations); n != 60 {
		t.Errorf("%d annotations, want 60", n)
	}
}

func TestFreshMakesANewRun(t *testing.T) {
	s, r := hub(t, githubtest.Config{OldestFirst: true}), findings(3)
	changed(s, r)
	p, _ := publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	again := pullTarget()
	again.DetailsURL += "/attempts/2"
	// One process ends, and the next finds its check run, complete or not.
	for range 2 {
		p, _ = publisher(t, s, again, Options{Fresh: true})
		for range 2 {
			if err := p.Start(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		publish(t, p, r)
	}
	if runs := s.CheckRuns(); len(runs) != 2 || runs[1].Status != "completed" || runs[1].DetailsURL != again.DetailsURL {
		t.Errorf("runs %+v, want a second one", runs)
	}
}

// TestDoubtMakesANewRun: a run that passes and may be about something else is replaced while
// judging; one that blocks a merge is not.
func TestDoubtMakesANewRun(t *testing.T) {
	broken := errors.New("nobody knows")
	for name, test := range map[string]struct {
		findings int
		doubted  bool
		err      error
		want     int
	}{
		"passing, its own":   {0, false, nil, 1},
		"passing, another's": {0, true, nil, 2},
		"passing, unknown":   {0, false, broken, 1},
		"failing, another's": {3, true, nil, 1},
	} {
		s, r := hub(t, githubtest.Config{}), findings(test.findings)
		changed(s, r)
		p, _ := publisher(t, s, pullTarget(), Options{})
		publish(t, p, r)
		again, asked := pullTarget(), ""
		again.DetailsURL += "/attempts/2"
		p, _ = publisher(t, s, again, Options{Doubt: func(_ context.Context, page string) (bool, error) {
			asked = page
			return test.doubted, test.err
		}})
		if err := p.Start(context.Background()); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", name, err, test.err)
		}
		if runs := s.CheckRuns(); len(runs) != test.want {
			t.Errorf("%s: %d check runs, want %d", name, len(runs), test.want)
		}
		if test.findings == 0 && asked != pullTarget().DetailsURL {
			t.Errorf("%s: asked about %q", name, asked)
		}
	}
}

// TestForeignRunsAreLeftAlone: runs of another app, of a job with the same name, of another
// commit, and with another name.
func TestForeignRunsAreLeftAlone(t *testing.T) {
	s, r := hub(t, githubtest.Config{PageSize: 2}), findings(1)
	changed(s, r)
	ours := mark{phaseStarted, none, none, 7}.String()
	foreign := []githubtest.CheckRun{
		{App: "evil", Name: "preadmit", HeadSHA: head, Status: "in_progress", ExternalID: ours},
		{App: "github-actions", Name: "preadmit", HeadSHA: head, Status: "in_progress", ExternalID: "a-job"},
		{App: "github-actions", Name: "preadmit", HeadSHA: merge, Status: "in_progress", ExternalID: ours},
		{App: "github-actions", Name: "other", HeadSHA: head, Status: "in_progress", ExternalID: ours},
		{App: "github-actions", Name: "preadmit", HeadSHA: head, Status: "completed", ExternalID: "preadmit/0/x"},
	}
	for _, run := range foreign {
		s.AddCheckRun(run)
	}
	p, _ := publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	runs := s.CheckRuns()
	if len(runs) != len(foreign)+1 {
		t.Fatalf("%d runs, want one more than %d", len(runs), len(foreign))
	}
	for i, run := range foreign {
		if runs[i].ExternalID != run.ExternalID || runs[i].Status != run.Status || runs[i].Title != "" {
			t.Errorf("run %d was changed to %+v", i, runs[i])
		}
	}
}

// TestOwnRunIsFoundOnALaterPage: there are many runs with the same name.
func TestOwnRunIsFoundOnALaterPage(t *testing.T) {
	s, r := hub(t, githubtest.Config{PageSize: 2}), findings(1)
	changed(s, r)
	p, _ := publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	for range 7 {
		s.AddCheckRun(githubtest.CheckRun{App: "github-actions", Name: "preadmit", HeadSHA: head, Status: "completed", Conclusion: "success", ExternalID: "a-job"})
	}
	s.Forget()
	p, _ = publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	if w := writes(s); len(w) != 0 {
		t.Errorf("wrote %v, want nothing", w)
	}
}

// TestLostAnswersAppendNothingTwice: GitHub carried out the request, but responded with 502.
func TestLostAnswersAppendNothingTwice(t *testing.T) {
	s, r := hub(t, githubtest.Config{}), findings(160)
	changed(s, r)
	s.Intercept(githubtest.Rule{Method: "POST", Path: "/check-runs", Status: 502, After: true})
	s.Intercept(githubtest.Rule{Method: "PATCH", Times: 4, Status: 502, After: true})
	p, _ := publisher(t, s, pullTarget(), Options{})
	ctx := context.Background()
	if err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Finish(ctx, r, CheckOptions{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	wantRun(t, s, 160)
	want := []string{"POST check-runs 502", "PATCH 1001 502", "PATCH 1001 502", "PATCH 1001 502", "PATCH 1001 502"}
	if diff := cmp.Diff(want, writes(s)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestFailuresAreTriedAgain: GitHub did not carry out the request and responded with 500.
func TestFailuresAreTriedAgain(t *testing.T) {
	s, r := hub(t, githubtest.Config{}), findings(60)
	changed(s, r)
	s.Intercept(githubtest.Rule{Method: "POST", Path: "/check-runs", Status: 500, Times: 2})
	s.Intercept(githubtest.Rule{Method: "PATCH", Skip: 1, Status: 503, Times: 2})
	p, _ := publisher(t, s, pullTarget(), Options{})
	publish(t, p, r)
	wantRun(t, s, 60)

	// Without annotations only the external_id shows that an update was not carried out.
	s = hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Method: "PATCH", Status: 502})
	p, _ = publisher(t, s, pullTarget(), Options{})
	if _, err := p.Complete(context.Background(), Check{Conclusion: Neutral, Title: "t"}); err != nil {
		t.Fatal(err)
	}
	if run := s.CheckRuns()[0]; run.Conclusion != string(Neutral) {
		t.Errorf("the run is %s %s, want it completed", run.Status, run.Conclusion)
	}
}

// TestResume: an incomplete run is continued where it stopped, and one with other content
// is superseded.
func TestResume(t *testing.T) {
	for _, second := range []int{120, 90} {
		s, r := hub(t, githubtest.Config{}), findings(120)
		changed(s, r)
		s.Intercept(githubtest.Rule{Method: "PATCH", Skip: 1, Status: 500, Times: 3})
		p, _ := publisher(t, s, pullTarget(), Options{Tries: 3})
		var failed *Error
		if _, err := p.Finish(context.Background(), r, CheckOptions{}); !errors.As(err, &failed) || failed.Kind != KindUnavailable {
			t.Fatalf("error %v, want KindUnavailable", err)
		}
		if n := len(s.CheckRuns()[0].Annotations); n != 50 {
			t.Fatalf("%d annotations before, want 50", n)
		}
		p, _ = publisher(t, s, pullTarget(), Options{})
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Finish(context.Background(), findings(second), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		runs := s.CheckRuns()
		if second == 120 {
			wantRun(t, s, 120)
			continue
		}
		if len(runs) != 2 || runs[0].Conclusion != string(Cancelled) || len(runs[1].Annotations) != 90 {
			t.Errorf("runs %+v, want the first cancelled and a second one with 90", runs)
		}
	}
}

// TestCheckOfAnother: a check run records the pull request that it was completed for, also if
// another pull request with this head has the same content.
func TestCheckOfAnother(t *testing.T) {
	s := hub(t, githubtest.Config{})
	for _, pull := range []int{7, 8} {
		target := pullTarget()
		target.Pull, target.Ref = pull, fmt.Sprintf("refs/pull/%d/merge", pull)
		target.DetailsURL = fmt.Sprintf("https://ci.example/%d", pull)
		p, _ := publisher(t, s, target, Options{})
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Complete(context.Background(), Check{Conclusion: Success, Title: "fine", Summary: "s"}); err != nil {
			t.Fatal(err)
		}
		asks, _ := publisher(t, s, pullTarget(), Options{})
		says, err := asks.LastVerdict(context.Background())
		if diff := cmp.Diff(Verdict{pull, Success, "fine"}, says); diff != "" || err != nil {
			t.Errorf("after #%d (-want +got): %v\n%s", pull, err, diff)
		}
		if runs := s.CheckRuns(); len(runs) != 1 || runs[0].DetailsURL != target.DetailsURL {
			t.Errorf("after #%d: runs %+v", pull, runs)
		}
	}
}
