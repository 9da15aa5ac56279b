package worker

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestForcePush checks that a push during a scan ends it, and that only the new verdict is published,
// whether the event of the push arrives or not.
func TestForcePush(t *testing.T) {
	for name, told := range map[string]bool{"with its event": true, "event lost": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			old := w.shop.Pull(1).HeadSHA
			entered, release := w.scanner.hold()
			stop := w.start()
			first := w.pull()
			<-entered
			head, err := w.shop.ForcePush("change", "main", githubtest.Files{"app/good.yaml": configMap("good", "fine")})
			w.must(err)
			var next queue.Job
			if told {
				next = w.pull()
				w.until("the old scan ends", func() bool { return w.record(first.ID).State == queue.Superseded })
			}
			release()
			w.idle()
			stop()
			if !told {
				next.ID = w.record(first.ID).SupersededBy
			}
			w.want("old check", w.checks(old), []string{"completed cancelled: " + map[bool]string{true: "Superseded", false: "Cancelled"}[told]})
			if summary := w.hub.CheckRuns()[0].Summary; told && !strings.Contains(summary, "has changed since") {
				t.Errorf("summary %q: it was left to the next job", summary)
			}
			w.want("new check", w.checks(head), []string{"completed success: no findings"})
			w.want("comments", w.comments(1), []string{})
			w.want("old record", w.state(first.ID), "superseded cancelled")
			w.want("superseded by", w.record(first.ID).SupersededBy, next.ID)
			w.want("new record", w.state(next.ID), "completed success")
			w.want("SARIF", len(w.hub.SARIFs()), 1)
		})
	}
}

// TestClosed checks that a pull request that is not open has no check run in progress, whenever it was
// closed.
func TestClosed(t *testing.T) {
	closing := map[string]func(w *env) error{
		"closed": func(w *env) error { return w.shop.ClosePull(1) },
		"draft":  func(w *env) error { return w.shop.SetDraft(1, true) },
	}
	for name, shut := range closing {
		t.Run(name+" before", func(t *testing.T) {
			w := newEnv(t)
			w.must(shut(w))
			job := w.pull()
			w.work()
			w.want("record", w.state(job.ID), "cancelled cancelled")
			w.want("check runs", len(w.hub.CheckRuns()), 0)
			w.want("scans", w.scanner.count(), 0)
			if why := w.record(job.ID).Why; !strings.Contains(why, name) {
				t.Errorf("why %q", why)
			}
		})
		for _, told := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s during, with its event %t", name, told), func(t *testing.T) {
				w := newEnv(t)
				entered, release := w.scanner.hold()
				stop := w.start()
				first := w.pull()
				<-entered
				w.must(shut(w))
				want := "cancelled cancelled"
				if told {
					w.pull()
					w.until("the scan ends", func() bool { return w.record(first.ID).State == queue.Superseded })
					want = "superseded cancelled"
				}
				release()
				w.idle()
				stop()
				w.want("record", w.state(first.ID), want)
				if got := w.checks(w.shop.Pull(1).HeadSHA); len(got) != 1 || !strings.HasPrefix(got[0], "completed cancelled") {
					t.Errorf("check runs %q", got)
				}
				w.want("comments", w.comments(1), []string{})
			})
		}
	}
}

// TestLeft checks that a check run that a crashed process left in progress at an older head is ended by
// the next job, also if the pull request was closed meanwhile.
func TestLeft(t *testing.T) {
	for name, shut := range map[string]bool{"new head": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			old := w.shop.Pull(1).HeadSHA
			entered, _ := w.scanner.hold()
			w.config.Drain = time.Nanosecond
			stop := w.start()
			first := w.pull()
			<-entered
			stop() // the process crashes
			w.want("left", w.checks(old), []string{"in_progress: Judging"})
			w.want("record", w.state(first.ID), "queued ")
			w.scanner.on(nil)
			w.config.Drain = time.Minute
			if shut {
				w.must(w.shop.ClosePull(1))
			} else {
				w.must(second(w.shop.Push("change", githubtest.Files{"app/good.yaml": configMap("good", "fine")})))
			}
			w.pull()
			w.work()
			if got := w.checks(old); len(got) != 1 || !strings.HasPrefix(got[0], "completed cancelled") {
				t.Errorf("check runs %q", got)
			}
			if !shut {
				w.want("new head", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
			}
		})
	}
}

// TestLeftAgain checks that a check run in progress of a crashed process is ended even if the next
// attempt is superseded before it can end it.
func TestLeftAgain(t *testing.T) {
	w := newEnv(t)
	old := w.shop.Pull(1).HeadSHA
	entered, _ := w.scanner.hold()
	w.config.Drain = time.Nanosecond
	stop := w.start()
	w.pull()
	<-entered
	stop() // the process crashes
	w.scanner.on(nil)
	w.config.Drain = time.Minute
	w.must(second(w.shop.Push("change", githubtest.Files{"app/good.yaml": configMap("good", "fine")})))
	w.wire.cutAfter(0, func(req *http.Request) (*http.Response, error) {
		if !strings.Contains(req.URL.Path, old) {
			return http.DefaultTransport.RoundTrip(req)
		}
		w.wire.cutAfter(0, nil)
		if _, _, err := w.queue.Enqueue(context.Background(), w.job(queue.Job{Pull: 1, Reason: "test"})); err != nil {
			t.Error(err)
		}
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	w.work()
	if got := w.checks(old); len(got) != 1 || !strings.HasPrefix(got[0], "completed cancelled") {
		t.Errorf("check runs %q", got)
	}
	w.want("new head", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
}

// TestReopened checks that a head that was judged and is judged again, as after the pull request was
// closed and reopened, keeps its check run when the second scan is cancelled.
func TestReopened(t *testing.T) {
	w := newEnv(t)
	w.pull()
	w.work()
	w.must(w.shop.ClosePull(1))
	w.pull()
	w.work()
	w.must(w.shop.ReopenPull(1))
	entered, release := w.scanner.hold()
	stop := w.start()
	again := w.pull()
	<-entered
	w.must(w.shop.ClosePull(1))
	w.pull()
	w.until("the second scan ends", func() bool { return w.record(again.ID).State == queue.Superseded })
	release()
	w.idle()
	stop()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
}

// TestBaseChange checks that after a change of the base during a scan the new base is used.
func TestBaseChange(t *testing.T) {
	w := newEnv(t)
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	entered, release := w.scanner.hold()
	stop := w.start()
	first := w.pull()
	<-entered
	w.must(w.shop.SetBase(1, "lenient"))
	release()
	w.idle()
	stop()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{"completed success: no findings"})
	next := w.record(first.ID).SupersededBy
	w.want("records", []string{w.state(first.ID), w.state(next), w.record(next).Base},
		[]string{"superseded cancelled", "completed success", w.shop.Tip("lenient")})
}

// TestSameHeadSuperseded checks that a newer job for the same commit takes over its check run.
func TestSameHeadSuperseded(t *testing.T) {
	w := newEnv(t)
	entered, release := w.scanner.hold()
	stop := w.start()
	first := w.pull()
	<-entered
	next := w.enqueue(queue.Job{Pull: 1, Reason: "again"})
	w.until("the old scan ends", func() bool { return w.record(first.ID).State == queue.Superseded })
	release()
	w.idle()
	stop()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
	w.want("details", w.hub.CheckRuns()[0].DetailsURL, "https://preadmit.example/scans/"+next.ID)
	w.want("records", []string{w.state(first.ID), w.state(next.ID)}, []string{"superseded ", "completed failure"})
}
