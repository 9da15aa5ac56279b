package worker

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestSupersededWhileBeginning checks that a job that is superseded while GitHub creates its check run
// leaves none in progress, whether the response arrives or not.
func TestSupersededWhileBeginning(t *testing.T) {
	for name, lost := range map[string]bool{"late answer": false, "lost answer": true} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			old := w.shop.Pull(1).HeadSHA
			w.wire.cutAfter(0, func(req *http.Request) (*http.Response, error) {
				if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/check-runs") {
					return http.DefaultTransport.RoundTrip(req)
				}
				w.wire.cutAfter(0, nil)
				resp, err := http.DefaultTransport.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
				w.must(second(w.shop.Push("change", githubtest.Files{"app/good.yaml": configMap("good", "fine")})))
				_, fresh, enqueued := w.queue.Enqueue(context.Background(), w.job(queue.Job{Pull: 1, Reason: "test"}))
				if enqueued != nil || !fresh {
					t.Error("enqueue:", enqueued)
				}
				if lost {
					return nil, errors.Join(errors.New("lost"), resp.Body.Close())
				}
				return resp, err
			})
			w.pull()
			w.work()
			if got := w.checks(old); len(got) != 1 || !strings.HasPrefix(got[0], "completed cancelled") {
				t.Errorf("check runs %q", got)
			}
			w.want("new head", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
		})
	}
}
