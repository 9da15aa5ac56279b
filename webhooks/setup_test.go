package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/app"
)

// newDev returns a running service without an App, and a browser on its machine.
func newDev(t *testing.T, env environment) (*Service, *http.Client) {
	t.Helper()
	all := environment{
		"PREADMIT_LISTEN": "127.0.0.1:0", "PREADMIT_METRICS_LISTEN": "127.0.0.1:0", "PREADMIT_DATA_DIR": t.TempDir(),
		"PREADMIT_GITHUB_URL": "https://github.invalid",
	}
	maps.Copy(all, env)
	config, err := ReadConfig(Sources{Dev: true, Getenv: all.get})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), jailable(Options{Config: config, Dev: true, Version: "test"}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the service ended with: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the service does not end")
		}
	})
	jar, _ := cookiejar.New(nil) // without options there is no error
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for !s.started.Load() {
		time.Sleep(5 * time.Millisecond)
	}
	get(t, browser, s.key.address(s.URL()+"/"))
	return s, browser
}

func get(t *testing.T, browser *http.Client, address string) (*http.Response, string) {
	t.Helper()
	resp, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestSetupOffers checks that the page sends GitHub a manifest with a public webhook URL, and with
// pages on this machine.
func TestSetupOffers(t *testing.T) {
	s, browser := newDev(t, nil)
	resp, _ := get(t, browser, s.URL()+"/")
	if resp.Header.Get("Location") != "/setup" {
		t.Errorf("/ leads to %q", resp.Header.Get("Location"))
	}
	resp, page := get(t, browser, s.URL()+"/setup?url=https://tunnel.example/&name=my%20gate&organization=octo-org")
	if file := filepath.Join(s.config.DataDir, appFile); !strings.Contains(page, html.EscapeString(file)) {
		t.Errorf("the page does not name %s:\n%s", file, page)
	}
	action := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page)
	manifest := regexp.MustCompile(`name="manifest" value="([^"]*)"`).FindStringSubmatch(page)
	if action == nil || manifest == nil {
		t.Fatalf("no form:\n%s", page)
	}
	if !strings.HasPrefix(action[1], "https://github.invalid/organizations/octo-org/settings/apps/new?state=") {
		t.Errorf("the form goes to %s", action[1])
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' https://github.invalid;") || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy: %s", policy)
	}
	var got struct {
		Name string
		Hook struct{ URL string } `json:"hook_attributes"`
		Back string               `json:"redirect_url"`
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(manifest[1])), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "my gate" || got.Hook.URL != "https://tunnel.example/webhooks/github" || got.Back != s.URL()+"/setup/callback" {
		t.Errorf("manifest: %+v", got)
	}
}

// TestSetupCreates checks the way from the button to a service that responds for the new App, without
// a restart.
func TestSetupCreates(t *testing.T) {
	hub, err := githubtest.New(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	hub.AddUser("alice")
	hub.SetViewer("alice")
	dir := t.TempDir()
	s, browser := newDev(t, environment{"PREADMIT_GITHUB_URL": hub.WebURL, "PREADMIT_GITHUB_API_URL": hub.URL, "PREADMIT_DATA_DIR": dir})
	_, page := get(t, browser, s.URL()+"/setup?url=https://tunnel.example&name=gate")
	action := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page)
	manifest := regexp.MustCompile(`name="manifest" value="([^"]*)"`).FindStringSubmatch(page)
	resp, err := browser.PostForm(html.UnescapeString(action[1]), url.Values{"manifest": {html.UnescapeString(manifest[1])}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	resp, page = get(t, browser, resp.Header.Get("Location"))
	if want := hub.WebURL + "/apps/gate/installations/new"; resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != want {
		t.Fatalf("after GitHub: %d to %q, want %s\n%s", resp.StatusCode, resp.Header.Get("Location"), want, page)
	}
	made := hub.Apps()[len(hub.Apps())-1]
	if info, err := os.Stat(filepath.Join(dir, appFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the App's file: %v %v", info, err)
	}
	made.SetWebhook(s.URL()+app.WebhookPath, made.WebhookSecret())
	if _, err := made.Send("ping", map[string]any{"zen": "x", "hook_id": 1}); err != nil {
		t.Fatal(err)
	}
	if sent := made.Deliveries(); sent[len(sent)-1].Status != http.StatusOK {
		t.Errorf("a ping by the new App's secret is answered with %d", sent[len(sent)-1].Status)
	}
	if resp, _ := get(t, browser, s.URL()+"/setup"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("/setup is still there: %d", resp.StatusCode)
	}
	if resp, _ := get(t, browser, s.URL()+"/"); resp.StatusCode != http.StatusOK {
		t.Errorf("the pages are not there: %d", resp.StatusCode)
	}
	if c, err := s.secrets.read(); err != nil || !sameCredentials(c, s.present().app.Credentials()) {
		t.Errorf("after a restart: %v %v", c, err)
	}
}

func TestSetupRefuses(t *testing.T) {
	s, browser := newDev(t, nil)
	for query, want := range map[string]string{
		"url=http://tunnel.example":                 "want a URL like https://",
		"url=https://x.example/path":                "want a URL like https://",
		"url=https://x.example&organization=a/../b": "is not the login of an organization",
		"url=%3Cscript%3E":                          "&lt;script&gt;",
	} {
		resp, page := get(t, browser, s.URL()+"/setup?"+query)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(page, want) || strings.Contains(page, "<script") {
			t.Errorf("%s: %d, want %q:\n%s", query, resp.StatusCode, want, page)
		}
	}

	// A callback that was not requested here.
	resp, page := get(t, browser, s.URL()+"/setup/callback?code=abc&state=def")
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(page, "does not belong to a setup that was begun here") {
		t.Errorf("forged answer: %d\n%s", resp.StatusCode, page)
	}
	// A callback for another browser.
	_, page = get(t, browser, s.URL()+"/setup?url=https://tunnel.example")
	state := regexp.MustCompile(`state=([A-Z0-9]+)`).FindStringSubmatch(page)[1]
	other, _ := cookiejar.New(nil)
	another := &http.Client{Jar: other}
	get(t, another, s.key.address(s.URL()+"/setup"))
	if resp, _ := get(t, another, s.URL()+"/setup/callback?code=abc&state="+url.QueryEscape(state)); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another browser's answer: %d", resp.StatusCode)
	}
}

// TestDevIsPrivate checks that a client that comes through a tunnel can only reach webhooks, with any
// Host.
func TestDevIsPrivate(t *testing.T) {
	s, browser := newDev(t, nil)
	for _, test := range []struct {
		path, host, cookie string
		want               int
	}{
		{"/", "tunnel.example", string(s.key), 403},
		{"/setup", "tunnel.example", "", 403},
		{"/setup", "localhost:8080", "", 403},
		{"/setup", "127.0.0.1", "another", 403},
		{"/setup?key=another", "127.0.0.1", "", 403},
		{"/setup/callback?code=a&state=b", "localhost", "", 403},
		{"/setup", "localhost", string(s.key), 200},
		{app.WebhookPath, "tunnel.example", "", 405},
		{"/healthz", "tunnel.example", "", 200},
	} {
		req, err := http.NewRequest(http.MethodGet, s.URL()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = test.host
		req.AddCookie(&http.Cookie{Name: keyCookie, Value: test.cookie})
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body) // on an error, what was read is checked
		resp.Body.Close()
		if resp.StatusCode != test.want || test.want != 200 && strings.Contains(string(body), "secret") {
			t.Errorf("%+v: %d\n%s", test, resp.StatusCode, body)
		}
	}
	// The URL with the key redirects to the page without it.
	resp, _ := get(t, &http.Client{CheckRedirect: browser.CheckRedirect}, s.key.address(s.URL()+"/setup"))
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/setup" {
		t.Errorf("the key leads to %d %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if _, page := get(t, browser, "http://"+s.ops.Addr().String()+"/metrics"); !strings.Contains(page, "preadmit_") {
		t.Errorf("no metrics:\n%.500s", page)
	}
}

// TestRelativeDataDir checks that paths for a jail, which has another working directory, are
// absolute.
func TestRelativeDataDir(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	r := run(t, environment{"PREADMIT_DATA_DIR": "data"})
	if got, err := filepath.EvalSymlinks(r.temp); err != nil || !filepath.IsAbs(r.temp) || !strings.HasSuffix(got, filepath.Join("data", tempDir)) {
		t.Errorf("repositories are in %s: %v", r.temp, err)
	}
	r.answers("/readyz", 200)
	if at := r.workerConfig(r.present().app).TempDir; at != r.temp {
		t.Errorf("a worker has them in %s", at)
	}
}

// TestReadiness checks that the queue is checked only once in a while, however many requests there are.
func TestReadiness(t *testing.T) {
	tries, fails := 0, false
	r := readiness{log: slog.New(slog.DiscardHandler), try: func(context.Context) error {
		tries++
		if fails {
			return errors.New("no")
		}
		return nil
	}}
	for range 100 {
		if why := r.check(); why != "" {
			t.Fatalf("not ready: %s", why)
		}
	}
	fails, r.then = true, time.Time{} // later
	if why := r.check(); why == "" {
		t.Error("ready without a queue")
	}
	if tries != 2 {
		t.Errorf("the queue was asked %d times, want 2", tries)
	}
}
