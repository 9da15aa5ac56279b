package worker

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// pair opens another pull request with the head of pull request 1. Both go into branches of their own
// without policies, and are judged.
func (w *env) pair() (other int) {
	w.t.Helper()
	other = w.other()
	w.must(w.shop.SetBranch("strict", w.shop.Tip("lenient")))
	w.must(w.shop.SetBase(1, "strict"))
	for _, n := range []int{1, other} {
		w.enqueue(queue.Job{Pull: n})
		w.work()
	}
	return other
}

// TestSharedHeadOvertaken checks that a verdict is not lost that changes while another pull request, which
// read the previous one, is about to publish: both are judged again at the same time, as by "Re-run
// all checks".
func TestSharedHeadOvertaken(t *testing.T) {
	w := newEnv(t)
	sha := w.shop.Pull(1).HeadSHA
	other := w.pair()
	w.want("before", w.checks(sha)[0][:len("completed success")], "completed success")
	w.must(second(w.shop.Push("strict", githubtest.Files{"policies/policies.yaml": policies})))

	held, release := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	w.wire.cutAfter(0, func(req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodPatch && first.CompareAndSwap(false, true) {
			close(held)
			select {
			case <-release:
			case <-req.Context().Done():
			}
		}
		return http.DefaultTransport.RoundTrip(req)
	})
	stop := w.start()
	w.enqueue(queue.Job{Pull: other, Fresh: true})
	<-held // the other one has read that both pass
	job := w.enqueue(queue.Job{Pull: 1, Fresh: true})
	w.until("the other is judged", func() bool { return w.record(job.ID).State == queue.Completed })
	close(release)
	w.idle()
	stop()
	w.want("record", w.state(job.ID), "completed failure")
	w.want("check run", w.newestCheckRun(sha), "completed failure: #1: 1 denied")
}

// TestSharedHeadLeftBehind checks that the pull requests that keep a head are judged again when another
// one got a new head, also when the first job that notices it is superseded before it can enqueue them.
func TestSharedHeadLeftBehind(t *testing.T) {
	w := newEnv(t)
	sha := w.shop.Pull(1).HeadSHA
	w.must(w.shop.SetBranch("same", sha))
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	other, err := w.shop.OpenPull(githubtest.PullOptions{Head: "same", Base: "lenient"})
	w.must(err)
	w.pull()
	w.work()
	w.enqueue(queue.Job{Pull: other})
	w.work()
	w.want("both", w.newestCheckRun(sha), "completed failure: #1: 1 denied")
	w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "fine")})))
	w.pull()
	claim, err := w.queue.Next(t.Context())
	w.must(err)
	w.pull()
	w.must(claim.Done(t.Context())) // superseded
	w.work()
	w.want("the one that stayed", w.newestCheckRun(sha), "completed success: no findings")
}
