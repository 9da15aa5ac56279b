package worker

import (
	"testing"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// replica returns a worker of another process with the same queue.
func (w *env) replica() *Worker {
	w.t.Helper()
	a, err := app.New(app.Config{BaseURL: w.hub.URL, WebURL: w.hub.WebURL, Clock: hasty{}, Credentials: w.config.App.Credentials()})
	w.must(err)
	c := w.config
	c.Queue, c.App = w.queue, a
	return New(c)
}

// TestAcceptedElsewhere checks that after permissions were accepted, which only one replica is notified
// of, the enqueued jobs have check runs on every replica.
func TestAcceptedElsewhere(t *testing.T) {
	w := newEnv(t)
	w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read", "pull_requests": "write"})
	w.pull()
	w.work()
	head := w.shop.Pull(1).HeadSHA
	w.want("check runs that may not be written", w.checks(head), []string{})
	w.must(w.installed.AcceptPermissions())
	first := w.replica().newTask(&queue.Claim{Job: queue.Job{Kind: queue.KindInstallation, Installation: w.installation, Reason: "installation.new_permissions_accepted"}})
	w.must(first.installation(t.Context()))
	w.work()
	w.want("check runs", w.checks(head), []string{told})
	w.want("SARIF", len(w.hub.SARIFs()), 1)
}

// TestCheckFoundLater checks that a repeated verdict, which had no check run for lack of the permission,
// gets the check run that another job has created since.
func TestCheckFoundLater(t *testing.T) {
	w := newEnv(t)
	job := w.pull()
	w.work()
	first := w.record(job.ID)
	url := first.CheckURL
	first.CheckURL = ""
	w.must(w.queue.PutScan(t.Context(), first))
	again := w.pull()
	w.work()
	w.want("scans", w.scanner.count(), 1)
	w.want("check run", []any{w.record(again.ID).CheckURL == url, url != ""}, []any{true, true})
}
