package worker

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	told   = "completed failure: 1 denied"
	spoken = "preadmit[bot]: ### :x: preadmit: 1 denied"
)

// TestPull checks what the job of a pull request leads to: a check run, a comment, SARIF, a record and a
// report.
func TestPull(t *testing.T) {
	w := newEnv(t)
	// Main gets another commit, so that the merge commit has other lines than the head.
	w.must(second(w.shop.Push("main", githubtest.Files{"other/other.yaml": configMap("other", "fine")})))
	pr := w.shop.Pull(1)
	w.scanner.on(func(context.Context, jailed.Request) error {
		w.want("check run during the scan", w.checks(pr.HeadSHA), []string{"in_progress: Judging"})
		running := w.queue.Scans(queue.ScanFilter{States: []queue.State{queue.Running}})
		w.want("running", []any{len(running), running[0].Title, running[0].Author}, []any{1, "Add <b>a map</b>", "octo"})
		return nil
	})
	job := w.pull()
	w.work()

	w.want("check runs", w.checks(pr.HeadSHA), []string{told})
	run := w.hub.CheckRuns()[0]
	w.want("details", run.DetailsURL, "https://preadmit.example/scans/"+job.ID)
	w.want("annotations", len(run.Annotations), 1)
	w.want("place", []any{run.Annotations[0].Path, run.Annotations[0].StartLine}, []any{"app/new.yaml", 5})
	w.want("comments", w.comments(1), []string{spoken})
	sarif := w.hub.SARIFs()[0]
	w.want("SARIF", []string{sarif.Ref, sarif.CommitSHA}, []string{"refs/pull/1/merge", pr.MergeSHA})
	s := w.record(job.ID)
	w.want("record", []any{s.State, s.Conclusion, s.Denied, s.Warned, s.Indeterminate, s.HasReport, s.Why, s.Attempt},
		[]any{queue.Completed, "failure", 1, 0, 0, true, "", 1})
	w.want("commits", []string{s.Head, s.Base, s.Judged, s.Ref}, []string{pr.HeadSHA, w.shop.Tip("main"), pr.MergeSHA, "refs/pull/1/merge"})
	if s.CheckURL == "" || s.CommentURL == "" || s.Started.IsZero() || s.Finished.IsZero() {
		t.Errorf("record %+v", s)
	}
	wire, err := w.queue.Report(t.Context(), job.ID)
	w.must(err)
	r, err := report.Read(strings.NewReader(string(wire)))
	w.must(err)
	w.want("report", []any{len(r.Findings), r.Tool.Version, r.Change.Base.Name, r.Change.Head.Name}, []any{1, "v0", "main", "refs/pull/1/merge"})
	left, err := os.ReadDir(w.config.TempDir)
	w.must(err)
	w.want("left in the directory for temporary files", left, []os.DirEntry{})
	for _, asked := range w.hub.Requests() {
		if strings.Contains(asked.Path, "git-upload-pack") && asked.By != "preadmit[bot]" {
			t.Errorf("fetched by %q", asked.By)
		}
	}
}

// TestPullAgain checks that a job for commits that were judged already publishes and scans nothing, and
// that one for others does.
func TestPullAgain(t *testing.T) {
	for _, test := range []struct {
		name  string
		job   queue.Job
		first func(w *env) // between the two jobs
		scans int
		runs  int // of the head
	}{
		{name: "duplicate", scans: 1, runs: 1},
		{name: "asked for", job: queue.Job{Fresh: true}, scans: 2, runs: 2},
		// Annotations cannot be removed, so another report needs another check run.
		{name: "main went on", scans: 2, runs: 2, first: func(w *env) {
			w.must(second(w.shop.Push("main", githubtest.Files{"other/x.yaml": configMap("x", "fine")})))
		}},
		{name: "another base", scans: 2, runs: 2, first: func(w *env) {
			w.must(second(w.shop.Push("next", githubtest.Files{"other/x.yaml": configMap("x", "fine")})))
			w.must(w.shop.SetBase(1, "next"))
		}},
		{name: "check run lost", scans: 2, runs: 1, first: func(w *env) {
			w.config.Name = "gate" // GitHub has no check run with this name
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			w.scanner.keep = true
			w.pull()
			w.work()
			if test.first != nil {
				test.first(w)
			}
			w.hub.Forget()
			test.job.Pull = 1
			job := w.enqueue(test.job)
			w.work()
			w.want("scans", w.scanner.count(), test.scans)
			w.want("record", w.state(job.ID), "completed failure")
			w.want("denied", w.record(job.ID).Denied, 1)
			n := 0
			for _, r := range w.hub.CheckRuns() {
				if r.HeadSHA == w.shop.Pull(1).HeadSHA && r.Name == cmpName(w) && r.Status == "completed" {
					n++
				}
			}
			w.want("check runs", n, test.runs)
			if test.scans == 1 {
				w.want("writes", writes(w), []string{})
				if why := w.record(job.ID).Why; !strings.Contains(why, "judged already") {
					t.Errorf("why %q", why)
				}
			}
		})
	}
}

func cmpName(w *env) string { return w.worker().Name }

// writes returns the requests for changes, except those for tokens.
func writes(w *env) []string {
	out := []string{}
	for _, line := range w.hub.Wrote() {
		if !strings.Contains(line, "access_tokens") && !strings.Contains(line, "git-upload-pack") {
			out = append(out, line)
		}
	}
	return out
}

// TestMergeCommit checks which commits are compared, by the state of the merge commit on GitHub.
func TestMergeCommit(t *testing.T) {
	for _, test := range []struct {
		name   string
		lag    int
		change func(w *env)
		merge  bool
	}{
		{name: "there", merge: true},
		{name: "late", lag: 2, merge: true},
		{name: "too late", lag: 20},
		{name: "a conflict", change: func(w *env) {
			w.must(second(w.shop.Push("main", githubtest.Files{"app/new.yaml": configMap("new", "fine")})))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			before := w.shop.Tip("main")
			w.must(second(w.shop.Push("other", githubtest.Files{"app/new.yaml": configMap("new", "deny")})))
			n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "other", Lag: test.lag})
			w.must(err)
			if test.change != nil {
				test.change(w)
			}
			job := w.enqueue(queue.Job{Pull: n})
			w.work()
			pr, s := w.shop.Pull(n), w.record(job.ID)
			want := []string{before, pr.HeadSHA, "refs/pull/2/head"}
			if test.merge {
				want = []string{w.shop.Tip("main"), pr.MergeSHA, "refs/pull/2/merge"}
			}
			w.want("judged", []string{s.Base, s.Judged, s.Ref}, want)
			w.want("check runs", w.checks(pr.HeadSHA), []string{told})
			w.want("SARIF", w.hub.SARIFs()[0].Ref, want[2])
		})
	}
}

// TestStaleMerge checks that a merge commit that is not of the current head and base is not judged,
// even if GitHub reports it as current.
func TestStaleMerge(t *testing.T) {
	w := newEnv(t)
	stale := w.shop.Pull(1).MergeSHA
	for name, pr := range map[string]*pullState{
		"other head": {head: w.shop.Tip("main"), merge: stale, baseRef: "main", number: 1},
		"gone":       {head: w.shop.Pull(1).HeadSHA, merge: strings.Repeat("1", 40), baseRef: "main", number: 1},
		"good":       {head: w.shop.Pull(1).HeadSHA, merge: stale, baseRef: "main", number: 1},
	} {
		task := w.task(w.job(queue.Job{Pull: 1}))
		c, err := task.fetchMerge(t.Context(), pr, &against{tip: w.shop.Tip("main")})
		w.must(err)
		w.want(name, c != nil, name == "good")
	}
}

// TestUnrelated checks that a pull request without a merge base is compared with the base itself.
func TestUnrelated(t *testing.T) {
	w := newEnv(t)
	sha, err := w.shop.Commit("", githubtest.Files{"policies/policies.yaml": policies, "app/new.yaml": configMap("new", "deny")})
	w.must(err)
	w.must(w.shop.SetBranch("root", sha))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "root"})
	w.must(err)
	w.hub.Intercept(githubtest.Rule{Path: "/pulls/2/files", Status: http.StatusNotFound, Message: "Not Found"})
	job := w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("record", w.state(job.ID), "completed failure")
	if s := w.record(job.ID); s.Base != w.shop.Tip("main") || !strings.Contains(s.Why, "no merge base") {
		t.Errorf("record %+v", s)
	}
}

// TestLines checks that annotations are on the lines of the head, not on those of the judged merge
// commit, in which main has inserted lines before them. Files too large for this have no
// annotations.
func TestLines(t *testing.T) {
	padding := strings.Repeat("# a comment\n", 20)
	for name, test := range map[string]struct {
		padding string
		want    string
	}{
		"small": {padding, "app/list.yaml:31"},
		"large": {padding + strings.Repeat("#"+strings.Repeat("x", 1000)+"\n", 2100), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			list := configMap("a", "fine") + "---\n" + test.padding
			w.must(second(w.shop.Push("main", githubtest.Files{"app/list.yaml": list})))
			w.must(second(w.shop.Push("list", githubtest.Files{"app/list.yaml": list + configMap("b", "deny")})))
			n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "list"})
			w.must(err)
			w.must(second(w.shop.Push("main", githubtest.Files{"app/list.yaml": "# one\n# two\n" + list})))
			w.enqueue(queue.Job{Pull: n})
			w.work()
			run := w.hub.CheckRuns()[0]
			got := ""
			for _, a := range run.Annotations {
				got += fmt.Sprintf("%s:%d", a.Path, a.StartLine)
			}
			w.want("annotated", got, test.want)
			if test.want == "" && !strings.Contains(run.Summary, "Places without annotation: 1") {
				t.Errorf("summary %q", run.Summary)
			}
			if !strings.Contains(w.hub.SARIFs()[0].CommitSHA, w.shop.Pull(n).MergeSHA) {
				t.Error("the merge commit was not judged, so that nothing is tested")
			}
		})
	}
}
