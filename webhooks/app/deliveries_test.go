package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestFailedDeliveries checks that deliveries without a successful attempt are returned, over several
// pages, with their last attempt.
func TestFailedDeliveries(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w, ctx := newEnv(t, githubtest.Config{PageSize: 2, Now: func() time.Time { return now }}), context.Background()
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer service.Close()
	w.theirs.SetWebhook(service.URL, "x")
	send := func(lose int) githubtest.Delivery {
		w.theirs.LoseDeliveries(lose, 503)
		if _, err := w.theirs.Send("push", map[string]any{"x": 1}); err != nil {
			t.Fatal(err)
		}
		all := w.theirs.Deliveries()
		return all[len(all)-1]
	}
	send(1) // too old
	w.Set(func(*githubtest.Config) { now = now.Add(time.Hour) })
	since := now
	recovered, lost, twice := send(1), send(1), send(1)
	send(0)
	for _, d := range []githubtest.Delivery{recovered, twice} {
		if d.ID == twice.ID {
			w.theirs.LoseDeliveries(1, 500)
		}
		if err := w.ours.Redeliver(ctx, d.ID); err != nil {
			t.Fatal(err)
		}
		w.Settle()
	}
	got, err := w.ours.FailedDeliveries(ctx, since)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		GUID             string
		Status, Attempts int
		Redelivery       bool
	}
	var rows []row
	for _, d := range got {
		rows = append(rows, row{d.GUID, d.Status, d.Attempts, d.Redelivery})
	}
	if diff := cmp.Diff([]row{{twice.GUID, 500, 2, true}, {lost.GUID, 503, 1, false}}, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := w.ours.Redeliver(ctx, 4242); !errors.Is(err, ErrGone) {
		t.Errorf("one that is not there: %v", err)
	}
}

// TestManifest checks that GitHub accepts the service's manifest, and that its code gives the
// credentials.
func TestManifest(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	text, err := Manifest(ManifestOptions{Name: "gate", PublicURL: "https://gate.example/below/"})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"name": "gate", "url": "https://gate.example/below", "public": false, "redirect_url": "https://gate.example/below/setup/callback",
		"hook_attributes": map[string]any{"url": "https://gate.example/below/webhooks/github", "active": true},
		"callback_urls":   []any{"https://gate.example/below/login/callback"}, "setup_url": "https://gate.example/below/",
		"description": "Says what the API server will say to a pull request.",
		"default_permissions": map[string]any{
			"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "write", "security_events": "write",
			"merge_queues": "read", "issues": "read",
		},
		"default_events": []any{"check_run", "check_suite", "issue_comment", "merge_group", "pull_request", "push"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm(w.WebURL+"/settings/apps/new", url.Values{"manifest": {string(text)}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	code := back.Query().Get("code")
	made, err := Convert(ctx, w.URL, code)
	app := w.Apps()[1]
	if err != nil || made.ID != app.ID || made.Slug != "gate" || made.WebhookSecret != app.WebhookSecret() || made.ClientSecret != app.ClientSecret {
		t.Errorf("%v %v", made, err)
	}
	for _, bad := range []string{code, "", "../app", strings.Repeat("x", 300)} {
		if _, err := Convert(ctx, w.URL, bad); err == nil || bad != "" && strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "start again") {
			t.Errorf("the code %q: %v", bad, err)
		}
	}
	if _, err := Manifest(ManifestOptions{PublicURL: "gate.example"}); err == nil {
		t.Error("a public URL without a scheme is taken")
	}
}
