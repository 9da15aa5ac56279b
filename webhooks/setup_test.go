package webhooks

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// newDev is a running service without an App, and a browser on its machine.
func newDev(t *testing.T) (*Service, *http.Client) {
	t.Helper()
	config, err := ReadConfig(Sources{Dev: true, Getenv: environment{
		"PREADMIT_LISTEN": "127.0.0.1:0", "PREADMIT_METRICS_LISTEN": "127.0.0.1:0", "PREADMIT_DATA_DIR": t.TempDir(),
		"PREADMIT_GITHUB_URL": "https://github.invalid",
	}.get})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Options{Config: config, Dev: true, Version: "test"})
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
	for {
		if resp, err := browser.Get(s.URL() + "/readyz"); err == nil {
			resp.Body.Close()
			return s, browser
		}
		time.Sleep(5 * time.Millisecond)
	}
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

// TestSetupOffers: the page sends GitHub a manifest whose webhook is public and whose
// pages are this machine's.
func TestSetupOffers(t *testing.T) {
	s, browser := newDev(t)
	resp, _ := get(t, browser, s.URL()+"/")
	if resp.Header.Get("Location") != "/setup" {
		t.Errorf("/ leads to %q", resp.Header.Get("Location"))
	}
	resp, page := get(t, browser, s.URL()+"/setup?url=https://tunnel.example/&name=my%20gate&organization=octo-org")
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

func TestSetupRefuses(t *testing.T) {
	s, browser := newDev(t)
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

	// An answer that nobody here asked GitHub for.
	resp, page := get(t, browser, s.URL()+"/setup/callback?code=abc&state=def")
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(page, "does not belong to a setup that was begun here") {
		t.Errorf("forged answer: %d\n%s", resp.StatusCode, page)
	}
	// One for another browser.
	_, page = get(t, browser, s.URL()+"/setup?url=https://tunnel.example")
	state := regexp.MustCompile(`state=([A-Z0-9]+)`).FindStringSubmatch(page)[1]
	if resp, _ := get(t, http.DefaultClient, s.URL()+"/setup/callback?code=abc&state="+url.QueryEscape(state)); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another browser's answer: %d", resp.StatusCode)
	}
}

// TestDevIsPrivate: by any name but this machine's own there are webhooks only.
func TestDevIsPrivate(t *testing.T) {
	s, browser := newDev(t)
	for path, want := range map[string]int{"/": 403, "/setup": 403, "/webhooks/github": 405, "/healthz": 200} {
		req, err := http.NewRequest(http.MethodGet, s.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "tunnel.example"
		resp, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s by the tunnel: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if _, page := get(t, browser, "http://"+s.ops.Addr().String()+"/metrics"); !strings.Contains(page, "preadmit_") {
		t.Errorf("no metrics:\n%.500s", page)
	}
}
