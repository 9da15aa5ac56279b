package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const unscanned = "preadmit[bot]: :x: **preadmit**: the newest commit could not be scanned, so nothing was judged: "

// body returns the only comment of pull request 1.
func (w *env) body() string {
	w.t.Helper()
	w.want("comments", len(w.comments(1)), 1)
	return w.hub.Comments()[0].Body
}

// TestStaleComment checks that a comment about one commit does not stay for one that cannot be scanned,
// and that a comment names its commit.
func TestStaleComment(t *testing.T) {
	w := newEnv(t)
	about := func(what, first string) {
		t.Helper()
		w.want(what, w.comments(1), []string{first})
		if head := w.shop.Pull(1).HeadSHA; !strings.HasSuffix(w.body(), "About the commit "+head+"</sub>\n") {
			t.Errorf("%s: the comment does not name %s:\n%s", what, head, w.body())
		}
	}
	push := func(name, key string) {
		w.must(second(w.shop.Push("change", githubtest.Files{"app/" + name + ".yaml": configMap(name, key)})))
		w.pull()
		w.work()
	}
	w.pull()
	w.work()
	about("denied", spoken)
	push("new", "fine")
	about("fine", "preadmit[bot]: :white_check_mark: **preadmit**: what was told here is resolved.")
	w.scanner.on(func(context.Context, jailed.Request) error {
		return &jailed.DeathError{Death: jailed.Death{Why: "took too much\n@all"}, Tries: 1}
	})
	push("two", "fine")
	about("not scanned", w.comments(1)[0])
	if got := w.comments(1)[0]; !strings.HasPrefix(got, unscanned+"`") || !strings.Contains(got, "took too much") || !strings.HasSuffix(got, "`") {
		t.Errorf("comment %q", got)
	}
	w.want("link to the comment", w.queue.Scans(queue.ScanFilter{})[0].CommentURL != "", true)
	w.scanner.on(nil)
	push("three", "deny")
	about("denied again", spoken)
}

// TestStaleCommentRefused checks that a failure is reported although the comment must not be changed;
// one that cannot be changed temporarily is changed later.
func TestStaleCommentRefused(t *testing.T) {
	for name, test := range map[string]struct {
		rule      githubtest.Rule
		corrected bool
	}{
		"for good": {githubtest.Rule{Status: 403, Message: "Resource not accessible by integration", Times: 100}, false},
		"for now":  {githubtest.Rule{Status: 502, Times: 6}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.pull()
			w.work()
			w.must(second(w.shop.Push("change", githubtest.Files{"app/two.yaml": configMap("two", "fine")})))
			w.scanner.on(func(context.Context, jailed.Request) error { return death() })
			test.rule.Method, test.rule.Path = "PATCH", "/comments/"+fmt.Sprint(w.hub.Comments()[0].ID)
			w.hub.Intercept(test.rule)
			job := w.pull()
			w.work()
			w.want("check run", w.newestCheckRun(w.shop.Pull(1).HeadSHA), "completed failure: "+failedTitle)
			w.want("record", w.state(job.ID), "failed failure")
			w.want("scanned twice", w.scanner.count() > 2, test.corrected)
			w.want("corrected", strings.Contains(w.body(), ":x: **preadmit**: the newest"), test.corrected)
		})
	}
}

// TestVerdictStaysInComment checks that a failure after the verdict was published does not change the comment.
func TestVerdictStaysInComment(t *testing.T) {
	w := newEnv(t)
	job := w.pull()
	claim, err := w.queue.Next(t.Context())
	w.must(err)
	w.want("claimed", claim.Job.ID, job.ID)
	worker := w.worker()
	worker.workDir, err = openWorkDir(t.TempDir())
	w.must(err)
	defer worker.workDir.close()
	task := worker.newTask(claim)
	w.must(task.run(claim.Context()))
	task.settle(claim.Context(), &finalError{errors.New("the store is full")})
	w.want("comments", w.comments(1), []string{spoken})
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
}
