package service

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pingStatus returns the status of the response to a ping that is signed with a secret.
func (r *replica) pingStatus(secret string) string {
	body := []byte("{}")
	status, _, err := r.post(ownDelivery{event: "ping", guid: guid(1), body: body, header: http.Header{
		signed: {signature("sha256", sha256.New, secret, body)},
	}})
	if err != nil {
		return err.Error()
	}
	return strconv.Itoa(status)
}

// TestReload: new secrets are read from their files without a restart, the previous webhook
// secret stays valid for a while, and invalid new secrets do not replace the current ones.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	first, next, third := w.app.WebhookSecret(), rand.Text(), rand.Text()
	heard := func(secrets ...string) func() []string {
		return func() (out []string) {
			for _, s := range secrets {
				out = append(out, r.pingStatus(s))
			}
			return out
		}
	}
	w.eventually("answers before", heard(first, next), "200", "401")
	w.write(w.secret, next+"\n")
	r.signal(syscall.SIGHUP)
	w.eventually("answers after a signal", heard(first, next, third, ""), "200", "200", "401", "401")
	w.app.SetWebhook(r.url+"/webhooks/github", next)
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)

	// Changes are noticed without a signal as well, and only one previous secret is kept.
	w.write(w.secret, third)
	w.eventually("answers after some seconds", heard(first, next, third), "401", "200", "200")

	refusals := func() []string {
		return []string{fmt.Sprint(strings.Count(r.log.String(), "new credentials are not taken") > 0)}
	}
	w.eventually("refusals before", refusals, "false")
	w.write(w.key, "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
	r.signal(syscall.SIGHUP)
	w.eventually("refusals of a broken key", refusals, "true")
	w.write(w.secret, "")
	r.signal(syscall.SIGHUP)
	w.eventually("refusals of no secret", func() []string {
		return []string{fmt.Sprint(strings.Contains(r.log.String(), w.secret+" is empty"))}
	}, "true")
	w.eventually("answers in spite of it", heard(first, next, third, ""), "401", "200", "200", "401")
	other := w.repository("other") // needs its own token
	number = w.pull(other, "change", "deny")
	w.judged(other.Pull(number).HeadSHA, "failure", denied)
}

// TestRotation: a private key and a client secret that GitHub no longer accepts are replaced while
// the service runs. Pull requests in between wait and are then judged, and users can log in
// again.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.shop.SetRole("alice", "write")
	w.write(w.client, w.app.ClientSecret)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	before := w.pull(w.shop, "before", "deny")
	w.judged(w.shop.Pull(before).HeadSHA, "failure", denied)

	key, err := w.app.RotateKey()
	w.must(err)
	fresh := w.repository("fresh") // needs a token, for which the old key is not accepted
	number := w.pull(fresh, "between", "deny")
	w.eventually("a job that waits", func() []string {
		return []string{fmt.Sprint(strings.Contains(r.log.String(), "jobs wait for credentials that GitHub takes"))}
	}, "true")
	began := time.Now()
	w.write(w.key, string(key))
	w.judged(fresh.Pull(number).HeadSHA, "failure", denied)
	t.Logf("judged %s after the new key was in its file, without a signal", time.Since(began).Round(time.Millisecond))
	w.eventually("what is left to do", r.busy)

	alice := w.visits(r, "alice")
	w.write(w.client, w.app.RotateClientSecret())
	r.signal(syscall.SIGHUP)
	w.eventually("the page of somebody who logged in before", func() []string {
		resp, _ := alice.asks("GET", "/", "")
		return []string{strconv.Itoa(resp.StatusCode)}
	}, "401")
	w.visits(r, "alice").wants("GET", "/repos/octo/shop", 200, "before")
	w.secretive(r)
}

// TestObserved: metrics count what happened, and the log is JSON without secrets.
func TestObserved(t *testing.T) {
	w := newEnv(t)
	w.app.SetWebhook("", rand.Text())
	w.write(w.secret, w.app.WebhookSecret())
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	r.wants("a forgery", ownDelivery{event: "ping", guid: guid(1), header: http.Header{signed: {"sha256=" + strings.Repeat("0", 64)}}}, 401)
	r.quiet()
	for line, want := range map[string]string{ // "" means any value
		`preadmit_scan_scans_total{outcome="failure"}`:                               "1",
		`preadmit_webhook_deliveries_total{event="pull_request",outcome="accepted"}`: "1",
		`preadmit_webhook_deliveries_total{event="ping",outcome="refused"}`:          "1",
		`preadmit_queue_jobs_enqueued_total{kind="pull",outcome="new"}`:              "1",
		`preadmit_queue_wait_seconds_count`:                                          "1",
		`preadmit_scan_stage_seconds_count{stage="fetch"}`:                           "1",
		`preadmit_scan_stage_seconds_count{stage="publish"}`:                         "1",
		`preadmit_scan_stage_seconds_count{stage="scan"}`:                            "1",
		`preadmit_worker_busy`:                                                       "0",
		`preadmit_queue_oldest_pending_seconds`:                                      "0",
		`preadmit_github_calls_total{class="check-runs",status="201"}`:               "1",
		`preadmit_github_rate_limit_remaining{`:                                      "",
	} {
		got := r.metric(line)
		if len(got) != 1 || want != "" && got[0] != want {
			t.Errorf("%s is %q, want %q", line, got, want)
		}
	}
	w.secretive(r)
}

// secretive checks that the log has no secrets.
func (w *env) secretive(r *replica) {
	w.t.Helper()
	log := r.log.String()
	secrets := append(w.hub.Tokens(), w.app.WebhookSecret(), w.app.ClientSecret, strings.Split(string(w.app.PrivateKey), "\n")[1], canary)
	for _, secret := range secrets {
		if secret == "" || strings.Contains(log, secret) {
			w.t.Errorf("the log has the secret %q", secret)
		}
	}
	n := 0
	for line := range strings.Lines(log) {
		var entry struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" || entry.Msg == "" {
			w.t.Errorf("a line of the log is not JSON as it should be: %q: %v", line, err)
		}
		n++
	}
	w.t.Logf("%d lines of log, %d secrets", n, len(secrets))
}
