package worker

import (
	"net/http/httptest"
	"testing"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/intake"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestButton checks that the button of a check run causes another verdict, like the command.
func TestButton(t *testing.T) {
	w := newEnv(t)
	door := httptest.NewServer(intake.New(intake.Config{
		Queue: w.queue, Secrets: w.config.App.WebhookSecrets, AppID: w.config.App.ID,
	}))
	t.Cleanup(door.Close)
	w.app.SetWebhook(door.URL, w.app.WebhookSecret())
	w.pull()
	w.work()
	head := w.shop.Pull(1).HeadSHA
	w.must(w.shop.RequestAction(w.hub.CheckRuns()[0].ID, app.ActionRescan, "alice"))
	w.hub.Settle()
	w.work()
	w.want("check runs", w.checks(head), []string{told, told})
	w.want("scans", w.scanner.count(), 2)
	w.want("reason", w.queue.Scans(queue.ScanFilter{Pull: 1})[0].Reason, "check_run.requested_action")
}
