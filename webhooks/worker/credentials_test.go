package worker

import (
	"context"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// napping is a clock that reports sleeps, and ends them on request.
type napping struct {
	hasty
	naps chan time.Duration
	wake chan struct{}
}

func (n *napping) Sleep(ctx context.Context, d time.Duration) error {
	if d != credentialsRest {
		return n.hasty.Sleep(ctx, d)
	}
	n.naps <- d
	select {
	case <-ctx.Done():
	case <-n.wake:
	}
	return ctx.Err()
}

// TestRefusedCredentials checks that while GitHub rejects the App's credentials, jobs wait for new ones
// and do not use up their attempts.
func TestRefusedCredentials(t *testing.T) {
	w := newEnv(t)
	clock := &napping{naps: make(chan time.Duration), wake: make(chan struct{})}
	w.config.Clock, w.config.Concurrency = clock, 1
	key, err := w.app.RotateKey() // which App does not know
	w.must(err)
	jobs := []queue.Job{w.pull(), w.enqueue(queue.Job{Kind: queue.KindPush, Head: w.shop.Tip("main"), Ref: "refs/heads/main"})}
	stop := w.start()
	for range w.queueConf.Attempts + 1 {
		<-clock.naps
		for _, j := range jobs {
			w.want("record meanwhile", w.state(j.ID), "queued ")
		}
		clock.wake <- struct{}{}
	}
	<-clock.naps
	stop() // also during the wait
	fresh := w.config.App.Credentials()
	fresh.PrivateKey = key
	w.must(w.config.App.Reload(t.Context(), fresh))
	w.work()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
	for _, j := range jobs {
		w.want("record", []any{w.state(j.ID), w.record(j.ID).Attempt}, []any{"completed failure", 1})
	}
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 0)
}
