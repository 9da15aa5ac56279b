package service

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

const denied = "1 denied"

// TestPull: from the webhook to a completed check run, a comment and SARIF.
func TestPull(t *testing.T) {
	w := newEnv(t)
	r := w.start(t.TempDir(), nil)
	number := w.pull(w.shop, "change", "deny")
	pull := w.shop.Pull(number)
	w.judged(pull.HeadSHA, "failure", denied)
	w.told(w.shop, number, "the key deny is not for us")
	sarif := w.sarif("refs/pull/1/merge")
	if sarif.CommitSHA != pull.MergeSHA || !strings.Contains(string(sarif.Log), "app/change.yaml") {
		t.Errorf("SARIF of %s, the merge commit is %s:\n%.1000s", sarif.CommitSHA, pull.MergeSHA, sarif.Log)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("the service ended with %d", code)
	}
}

// told waits until a pull request has one comment by the App, with a text.
func (w *env) told(r *githubtest.Repository, number int, text string) {
	w.t.Helper()
	w.eventually("comments", func() []string {
		comments := w.comments(r, number)
		for i, c := range comments {
			if strings.Contains(c, text) {
				comments[i] = text
			}
		}
		return comments
	}, text)
}

// sarif waits for an upload for a ref.
func (w *env) sarif(ref string) githubtest.SARIF {
	w.t.Helper()
	find := func() int {
		return slices.IndexFunc(w.hub.SARIFs(), func(s githubtest.SARIF) bool { return s.Ref == ref })
	}
	w.eventually("SARIF of "+ref, func() []string {
		if find() < 0 {
			return nil
		}
		return []string{ref}
	}, ref)
	return w.hub.SARIFs()[find()]
}

func TestFork(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	fork, err := w.shop.Fork("eve")
	w.must(err)
	head, err := fork.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})
	w.must(err)
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change", From: fork})
	w.must(err)
	w.judged(head, "failure", denied)
	w.told(w.shop, number, "the key deny is not for us")
	for _, r := range w.hub.Requests() {
		if r.Writes() && strings.Contains(r.Path, "/repos/eve/") {
			t.Errorf("something was written to the fork: %s %s", r.Method, r.Path)
		}
	}
}

// TestForksApproved: with the policy approve, a head is judged after a maintainer's command.
func TestForksApproved(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), options{"FORKS": "approve"})
	w.shop.SetRole("alice", "write")
	fork, err := w.shop.Fork("eve")
	w.must(err)
	head, err := fork.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})
	w.must(err)
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change", From: fork})
	w.must(err)
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "action_required")
	w.must(second(w.shop.Comment(number, "eve", "/preadmit rescan "+head)))
	w.must(second(w.shop.Comment(number, "alice", "/preadmit rescan "+head)))
	w.eventually("check runs after the command", func() []string {
		all := conclusions(w.checks(head))
		return all[max(0, len(all)-1):]
	}, "failure")
}

// conclusions returns the conclusions of check runs from env.checks.
func conclusions(checks []string) []string {
	var out []string
	for _, c := range checks {
		out = append(out, strings.Split(c, " | ")[1])
	}
	return out
}

// TestForcePush: a push during a scan cancels it, and only the new verdict is published.
func TestForcePush(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	old, err := w.shop.Push("change", slow())
	w.must(err)
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change"})
	w.must(err)
	w.eventually("check run in progress", func() []string { return w.checks(old) }, judging)
	head, err := w.shop.ForcePush("change", "main", githubtest.Files{"app/new.yaml": configMap("new", "fine")})
	w.must(err)
	w.eventually("check runs of the new head", func() []string { return conclusions(w.checks(head)) }, "success")
	w.eventually("check runs of the old head", func() []string { return conclusions(w.checks(old)) }, "cancelled")
	time.Sleep(2 * time.Second)
	if comments := w.comments(w.shop, number); len(comments) != 0 {
		t.Errorf("the old verdict was told: %.500q", comments)
	}
}

func TestClosed(t *testing.T) {
	w := newEnv(t)
	r := w.start(t.TempDir(), nil)
	w.must(second(w.shop.Push("other", githubtest.Files{"app/other.yaml": configMap("other", "fine")})))
	w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})))
	w.app.LoseDeliveries(1, 500) // the delivery for opening it
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change"})
	w.must(err)
	w.must(w.shop.ClosePull(number))
	// A later one is judged before the first is checked.
	later, err := w.shop.OpenPull(githubtest.PullOptions{Head: "other"})
	w.must(err)
	w.eventually("check runs of the later one", func() []string { return conclusions(w.checks(w.shop.Pull(later).HeadSHA)) }, "success")
	w.eventually("kinds of jobs left", func() []string {
		return slices.DeleteFunc(r.metric("preadmit_queue_jobs{"), func(n string) bool { return n == "0" })
	})
	if got := w.checks(w.shop.Pull(number).HeadSHA); len(got) != 0 {
		t.Errorf("a closed pull request was judged: %q", got)
	}
}

// metric returns the values of the metrics whose lines begin with a text, in order.
func (r *replica) metric(prefix string) []string {
	_, text := r.get("/metrics")
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			fields := strings.Fields(line)
			out = append(out, fields[len(fields)-1])
		}
	}
	return out
}

func TestMergeGroup(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	uploads := len(w.hub.SARIFs())
	group, err := w.shop.AddMergeGroup(number)
	w.must(err)
	w.judged(group.HeadSHA, "failure", denied)
	if n := len(w.hub.SARIFs()); n != uploads {
		t.Errorf("SARIF was uploaded for a merge queue, which shows none")
	}
}

// TestRerun: GitHub's buttons and preadmit's button create a new check run with the same verdict.
func TestRerun(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	number := w.pull(w.shop, "change", "deny")
	head := w.shop.Pull(number).HeadSHA
	w.judged(head, "failure", denied)
	w.must(w.shop.RerequestRun(w.hub.CheckRuns()[0].ID, "alice"))
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "failure", "failure")
	w.must(w.shop.RerequestSuite(w.app, head, "alice"))
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "failure", "failure", "failure")
	w.must(w.shop.RequestAction(w.hub.CheckRuns()[2].ID, "rescan", "alice"))
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "failure", "failure", "failure", "failure")
	w.told(w.shop, number, "the key deny is not for us")
}

// TestBaseChange: an object that was denied is allowed by the policies of another base.
func TestBaseChange(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": githubtest.Removed})))
	w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})))
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change"})
	w.must(err)
	head := w.shop.Pull(number).HeadSHA
	w.judged(head, "failure", denied)
	w.must(w.shop.SetBase(number, "lenient"))
	w.eventually("the last check run", func() []string {
		all := conclusions(w.checks(head))
		return all[max(0, len(all)-1):]
	}, "neutral") // no policy is in force there
	w.must(w.shop.SetTitle(number, "another title")) // causes no scan
}

func TestDraft(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})))
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change", Draft: true})
	w.must(err)
	other := w.pull(w.shop, "other", "fine")
	w.eventually("check runs of the other", func() []string { return conclusions(w.checks(w.shop.Pull(other).HeadSHA)) }, "success")
	head := w.shop.Pull(number).HeadSHA
	if got := w.checks(head); len(got) != 0 {
		t.Errorf("a draft was judged: %q", got)
	}
	w.must(w.shop.SetDraft(number, false))
	w.judged(head, "failure", denied)
}

// TestCommands: users with write access may use commands; others get only a reaction.
func TestCommands(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	w.shop.SetRole("alice", "write")
	w.shop.SetRole("eve", "read")
	number := w.pull(w.shop, "change", "deny")
	head := w.shop.Pull(number).HeadSHA
	w.judged(head, "failure", denied)
	w.must(second(w.shop.Comment(number, "eve", "/preadmit rescan")))
	w.must(second(w.shop.Comment(number, "eve", "/preadmit explain 1")))
	w.must(second(w.shop.Comment(number, "alice", "/preadmit explain 1")))
	w.eventually("answers", func() []string {
		var out []string
		for _, c := range w.comments(w.shop, number)[min(1, len(w.comments(w.shop, number))):] {
			if strings.Contains(c, "the key deny is not for us") {
				out = append(out, "explained")
			}
		}
		return out
	}, "explained")
	if got := conclusions(w.checks(head)); !slices.Equal(got, []string{"failure"}) {
		t.Errorf("an outsider had it judged again: %q", got)
	}
	w.must(second(w.shop.Comment(number, "alice", "/preadmit rescan")))
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "failure", "failure")
}

// TestBaseline: a push to the default branch uploads all findings to code scanning.
func TestBaseline(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	head, err := w.shop.Push("main", githubtest.Files{"app/new.yaml": configMap("new", "fine")})
	w.must(err)
	sarif := w.sarif("refs/heads/main")
	if sarif.CommitSHA != head || !strings.Contains(string(sarif.Log), "app/old.yaml") {
		t.Errorf("SARIF of %s, want %s with app/old.yaml", sarif.CommitSHA, head)
	}
}

// TestBaselineRerun: the button of its check run repeats a failed baseline.
func TestBaselineRerun(t *testing.T) {
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	head, err := w.shop.Push("main", githubtest.Files{".preadmit.yaml": "nonsense: 1\n"})
	w.must(err)
	w.judged(head, "neutral", "The scan could not be completed")
	w.must(w.shop.RerequestRun(w.hub.CheckRuns()[0].ID, "alice"))
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "neutral", "neutral")
	w.must(second(w.shop.Push("main", githubtest.Files{".preadmit.yaml": githubtest.Removed})))
	w.must(w.shop.RerequestRun(w.hub.CheckRuns()[0].ID, "alice"))
	w.eventually("the last check run", func() []string {
		all := w.checks(head)
		return all[len(all)-1:]
	}, "completed | neutral | The default branch has moved on")
	if sarif := w.sarif("refs/heads/main"); sarif.CommitSHA != w.shop.Tip("main") {
		t.Errorf("SARIF of %s, want the present commit's", sarif.CommitSHA)
	}
}

// TestGitHubDown: failed requests to GitHub are repeated.
func TestGitHubDown(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.start(t.TempDir(), nil)
	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/pulls/1", Times: 3, Status: 502, Message: "bad gateway"})
	w.hub.Intercept(githubtest.Rule{Method: "POST", Path: "/check-runs", Times: 2, Status: 503, Message: "unavailable"})
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	w.told(w.shop, number, "the key deny is not for us")
}

// TestMissedDelivery: the reconciler finds deliveries that were sent while the service was
// down. They are two minutes old here, since it ignores failed deliveries for one minute.
func TestMissedDelivery(t *testing.T) {
	w := newEnv(t)
	dir := t.TempDir()
	w.start(dir, nil).stop()
	w.hub.Set(func(c *githubtest.Config) { c.Now = func() time.Time { return time.Now().Add(-2 * time.Minute) } })
	number := w.pull(w.shop, "change", "deny") // the service does not run
	group, err := w.shop.AddMergeGroup(number) // known only by its delivery
	w.must(err)
	w.hub.Set(func(c *githubtest.Config) { c.Now = time.Now })
	r := w.start(dir, options{"RECONCILE_EVERY": "2s"})
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	w.judged(group.HeadSHA, "failure", denied)
	if got := r.metric("preadmit_reconcile_deliveries_recovered_total"); len(got) != 1 || got[0] == "0" {
		t.Errorf("deliveries recovered: %q", got)
	}
}
