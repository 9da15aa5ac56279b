package worker

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// fork opens pull request 2 from a fork.
func (w *env) fork() *githubtest.Repository {
	w.t.Helper()
	fork, err := w.shop.Fork("mallory")
	w.must(err)
	w.must(second(fork.Push("mine", githubtest.Files{"app/new.yaml": configMap("new", "deny")})))
	w.must(second(w.shop.OpenPull(githubtest.PullOptions{Head: "mine", From: fork})))
	return fork
}

// waiting is a check run that blocks a merge, unlike a neutral one.
const waiting = "completed action_required: Waiting for approval"

func TestForks(t *testing.T) {
	for _, test := range []struct {
		forks  Forks
		gone   bool // the fork was deleted
		checks string
		scans  int
	}{
		{forks: "", checks: told, scans: 1},
		{forks: ForksOn, checks: told, scans: 1},
		{forks: ForksOn, gone: true, checks: told, scans: 1},
		{forks: ForksOff, checks: "completed neutral: Pull requests from forks are not judged"},
		{forks: ForksOff, gone: true, checks: "completed neutral: Pull requests from forks are not judged"},
		{forks: ForksApprove, checks: waiting},
	} {
		t.Run(string(test.forks), func(t *testing.T) {
			w := newEnv(t)
			w.config.Forks = test.forks
			fork := w.fork()
			if test.gone {
				fork.Delete()
			}
			job := w.enqueue(queue.Job{Pull: 2})
			own := w.pull()
			w.work()
			w.want("check runs", w.checks(w.shop.Pull(2).HeadSHA), []string{test.checks})
			w.want("own", w.state(own.ID), "completed failure") // with every policy for forks
			w.want("scans", w.scanner.count(), test.scans+1)
			w.want("comments", len(w.comments(2)), test.scans)
			s := w.record(job.ID)
			w.want("fork", s.Fork, true)
			w.want("record", s.State, queue.Completed)
			w.want("conclusion", s.Conclusion, strings.TrimSuffix(strings.Fields(test.checks)[1], ":"))
			if head := w.shop.Pull(2).HeadSHA; (test.forks == ForksApprove) != strings.HasSuffix(s.Why, rescan+" "+head) {
				t.Errorf("why %q", s.Why)
			}
		})
	}
}

// TestApproval checks that the command approves the head of that time, and no later one.
func TestApproval(t *testing.T) {
	w := newEnv(t)
	w.config.Forks = ForksApprove
	fork := w.fork()
	first := w.shop.Pull(2).HeadSHA
	w.enqueue(queue.Job{Pull: 2})
	w.enqueue(queue.Job{Pull: 2, Fresh: true, Reason: "check_run.rerequested"})
	w.work()
	w.want("scans before", w.scanner.count(), 0)

	w.comment(2, "mallory", rescan+" "+first)
	w.work()
	w.want("scans by the author", w.scanner.count(), 0)

	w.approve(2)
	w.work()
	w.want("scans", w.scanner.count(), 1)
	w.want("comments", w.comments(2)[2:], []string{spoken})
	runs := w.checks(first)
	w.want("check runs", runs[len(runs)-1], told)

	// A new job without an approval, as after a change of the base.
	w.must(second(w.shop.Push("main", githubtest.Files{"other/x.yaml": configMap("x", "fine")})))
	w.enqueue(queue.Job{Pull: 2})
	w.work()
	w.want("scans after a change of main", w.scanner.count(), 2)

	// A push whose job replaces an approved one is not approved.
	w.approve(2)
	w.workOn(queue.KindCommand)
	w.must(second(fork.Push("mine", githubtest.Files{"app/worse.yaml": configMap("worse", "deny")})))
	w.enqueue(queue.Job{Pull: 2, Head: w.shop.Pull(2).HeadSHA})
	w.work()
	w.want("scans after a push", w.scanner.count(), 2)
	w.want("new head", w.checks(w.shop.Pull(2).HeadSHA), []string{waiting})

	// Nor is one that comes before the approved job is claimed, and whose event was lost.
	w.approve(2)
	w.workOn(queue.KindCommand)
	w.must(second(fork.Push("mine", githubtest.Files{"app/worst.yaml": configMap("worst", "deny")})))
	w.work()
	w.want("scans after a push without its event", w.scanner.count(), 2)
	w.want("newest head", w.checks(w.shop.Pull(2).HeadSHA), []string{waiting})
	for _, r := range w.hub.CheckRuns() {
		if r.Title == "Waiting for approval" && !strings.Contains(r.Summary, "\n/preadmit rescan "+r.HeadSHA+"\n") {
			t.Errorf("summary %q does not name the commit", r.Summary)
		}
	}
}

// approve approves the head of a pull request with the command of somebody with write access.
func (w *env) approve(pull int) {
	w.t.Helper()
	w.comment(pull, "octo", rescan+" "+w.shop.Pull(pull).HeadSHA[:leastNamed])
}

// TestApprovalOfWhatWasSeen checks that a push between reading and the command, or between the command
// and the scan, is not approved, whether the command names a commit or not.
func TestApprovalOfWhatWasSeen(t *testing.T) {
	for name, named := range map[string]bool{"named": true, "not named": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.config.Forks = ForksApprove
			fork := w.fork()
			seen := w.shop.Pull(2).HeadSHA
			w.must(second(fork.Push("mine", githubtest.Files{"app/evil.yaml": configMap("evil", "deny")})))
			command := rescan
			if named {
				command += " " + seen
			}
			id := w.comment(2, "octo", command)
			w.work()
			w.want("scans", w.scanner.count(), 0)
			w.want("reactions", w.reactions(id), []string{"confused preadmit[bot]"})
			if head := w.shop.Pull(2).HeadSHA; !named {
				w.want("check runs", w.checks(head), []string{waiting})
				w.want("details", w.hub.CheckRuns()[0].DetailsURL, "")
			}
		})
	}
}

// TestApprovalIsKept checks that a job that replaces an approved one keeps the approval.
func TestApprovalIsKept(t *testing.T) {
	w := newEnv(t)
	w.config.Forks = ForksApprove
	w.fork()
	w.approve(2)
	w.workOn(queue.KindCommand)
	w.enqueue(queue.Job{Pull: 2, Fresh: true, Reason: "check_run.rerequested"})
	w.work()
	w.want("check runs", w.checks(w.shop.Pull(2).HeadSHA), []string{told})
}

// workOn processes one job of a kind, and not those that it enqueues.
func (w *env) workOn(kind queue.Kind) {
	w.t.Helper()
	claim, err := w.queue.Next(w.t.Context())
	w.must(err)
	w.want("claimed", claim.Job.Kind, kind)
	w.worker().work(claim)
}

// comment comments on a pull request and enqueues the job of its command.
func (w *env) comment(pull int, author, text string) int64 {
	w.t.Helper()
	id, err := w.shop.Comment(pull, author, text)
	w.must(err)
	line, _, _ := strings.Cut(text, "\n")
	w.enqueue(queue.Job{Kind: queue.KindCommand, Pull: pull, Command: line, Sender: author, Comment: id})
	return id
}

// TestApprovalOfSharedHead checks that a pull request from a fork with the head of another one needs no
// approval if that commit is judged anyway: otherwise it would block the other one.
func TestApprovalOfSharedHead(t *testing.T) {
	for name, before := range map[string]bool{"judged before": true, "judged afterwards": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.config.Forks = ForksApprove
			w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "fine")})))
			sha := w.shop.Pull(1).HeadSHA
			if before {
				w.pull()
				w.work()
			}
			fork, err := w.shop.Fork("mallory")
			w.must(err)
			w.must(fork.SetBranch("mine", sha))
			n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "mine", From: fork})
			w.must(err)
			if w.enqueue(queue.Job{Pull: n}); !before {
				w.workOn(queue.KindPull)
				w.pull()
			}
			w.work()
			if got := w.newestCheckRun(sha); !strings.HasPrefix(got, "completed success: ") {
				t.Errorf("check run %q", got)
			}
		})
	}
}

// TestApprovalBesideOthers checks that a pull request that waits for approval does not pass by another's
// verdict, and does not hide one that fails.
func TestApprovalBesideOthers(t *testing.T) {
	aside := queue.Scan{Pull: 2, State: queue.Completed, Conclusion: string(github.ActionRequired)}
	for own, want := range map[github.Conclusion]string{
		github.Success: "action_required #2: waiting for approval",
		github.Neutral: "action_required #2: waiting for approval",
		github.Failure: "failure #1: x",
	} {
		c := github.Check{Conclusion: own, Title: "x"}.Beside(1, []github.Verdict{verdictOf(&aside)})
		if got := string(c.Conclusion) + " " + c.Title; got != want {
			t.Errorf("%s: %q, want %q", own, got, want)
		}
	}
	c := github.Check{Conclusion: github.ActionRequired}.Beside(2, []github.Verdict{{Pull: 1, Conclusion: github.Failure, Title: "1 denied"}})
	if got := string(c.Conclusion) + " " + c.Title; got != "failure #1: 1 denied" {
		t.Errorf("beside a failure: %q", got)
	}
}
