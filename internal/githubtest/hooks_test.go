package githubtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"
)

// TestDeliveries checks that deliveries are signed, recorded with their status, and redelivered with
// the same GUID.
func TestDeliveries(t *testing.T) {
	w, ctx := newWorld(t, Config{PageSize: 2}), context.Background()
	c := w.client(w.assertion(nil))
	w.app.LoseDeliveries(1, 504)
	must(w.repo.Push("a", Files{"a": "1"}))(t)
	w.hook.status = 503
	must(w.repo.Push("b", Files{"b": "1"}))(t)
	w.hook.status = 202
	must(w.repo.Push("c", Files{"c": "1"}))(t)
	if names, _ := w.hook.take(t); len(names) != 2 {
		t.Errorf("%v came, want two pushes", names)
	}
	all := w.app.Deliveries()
	if diff := cmp.Diff([]int{202, 504, 503, 202}, statuses(all)); diff != "" {
		t.Errorf("statuses, of the installation first (-want +got):\n%s", diff)
	}
	_, _, err := c.Apps.RedeliverHookDelivery(ctx, all[1].ID)
	if _, accepted := err.(*github.AcceptedError); !accepted {
		t.Errorf("asked again: %v", err)
	}
	w.Settle()
	got := w.hook.got[0]
	mac := hmac.New(sha256.New, []byte(w.app.WebhookSecret()))
	mac.Write(got.payload)
	if got.guid != all[1].GUID || got.event != "push" || got.signature != "sha256="+hex.EncodeToString(mac.Sum(nil)) ||
		got.target != strconv.FormatInt(w.app.ID, 10) {
		t.Errorf("came again: %+v", got)
	}
	var listed []int
	var again []bool
	for opts := (&github.ListCursorOptions{PerPage: 100}); ; {
		list, resp, err := c.Apps.ListHookDeliveries(ctx, opts)
		check(t, err)
		for _, d := range list {
			listed, again = append(listed, d.GetStatusCode()), append(again, d.GetRedelivery())
		}
		if opts.Cursor = resp.Cursor; opts.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]int{202, 202, 503, 504, 202}, listed); diff != "" || !again[0] || again[1] {
		t.Errorf("listed %v (-want +got):\n%s", again, diff)
	}
}

func statuses(list []Delivery) (out []int) {
	for _, d := range list {
		out = append(out, d.Status)
	}
	return out
}

// TestSlowServicesAreGivenUp checks the statuses for services that are too slow, or not running.
func TestSlowServicesAreGivenUp(t *testing.T) {
	w := newWorld(t, Config{})
	w.Set(func(c *Config) { c.HookTimeout = 20 * time.Millisecond })
	w.hook.mu.Lock() // the service does not respond
	must(w.repo.Push("a", Files{"a": "1"}))(t)
	w.hook.mu.Unlock()
	w.Set(func(c *Config) { c.HookTimeout = time.Minute })
	w.app.SetWebhook("http://127.0.0.1:1/", "x")
	must(w.repo.Push("a", Files{"a": "2"}))(t)
	if diff := cmp.Diff([]int{202, 504, 502}, statuses(w.app.Deliveries())); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}
