package service

import (
	"cmp"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/preadmit/preadmit/e2e/browser"
	"github.com/preadmit/preadmit/internal/freeport"
	"github.com/preadmit/preadmit/internal/githubtest"
)

// dev starts `preadmit serve --dev` as in docs/github-app.md, and returns the address of
// the page from its log.
func (w *env) dev(dir string) (r *replica, page string) {
	w.t.Helper()
	began := time.Now()
	r = &replica{w: w, dir: dir, ended: make(chan struct{}), log: &lines{}}
	r.cmd = exec.Command(program(w.t, "preadmit"), "serve", "--dev", "--log-format", "text",
		"--listen", freeport.Address(w.t), "--metrics-listen", freeport.Address(w.t), "--github-url", w.hub.WebURL, "--github-api-url", w.hub.URL)
	r.cmd.Dir, r.cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	stderr, err := r.cmd.StderrPipe()
	w.must(err)
	w.must(r.cmd.Start())
	go r.read(stderr)
	w.t.Cleanup(func() {
		r.kill()
		if w.t.Failed() {
			w.t.Logf("log:\n%s", tail(r.log.String(), 30_000))
		}
	})
	named := regexp.MustCompile(`page="?((http://[^/]+)/\?key=\w+)`)
	w.eventually("a page in the log", func() []string {
		if m := named.FindStringSubmatch(r.log.String()); m != nil {
			page, r.url = m[1], m[2]
			return nil
		}
		return []string{r.log.String()}
	})
	w.t.Logf("the page is there after %v", time.Since(began).Round(time.Millisecond))
	return r, page
}

// browser is a client that keeps cookies and follows redirects, except to pages of the fake GitHub.
func (w *env) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	w.must(err)
	github, err := url.Parse(w.hub.WebURL)
	w.must(err)
	return &http.Client{Jar: jar, CheckRedirect: func(to *http.Request, _ []*http.Request) error {
		if to.URL.Host == github.Host {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// sees returns the page at which a browser ends, and its address.
func (w *env) sees(resp *http.Response, err error) (text, at string) {
	w.t.Helper()
	w.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	w.must(err)
	return string(body), cmp.Or(resp.Header.Get("Location"), resp.Request.URL.String())
}

// TestDev follows docs/github-app.md: from no App to a check run using only the pages, and
// on after a restart.
func TestDev(t *testing.T) {
	w, dir := newEnv(t), t.TempDir()
	w.hub.AddUser("alice")
	w.hub.SetViewer("alice")
	r, page := w.dev(dir)
	b := w.browser()
	text, at := w.sees(b.Get(page))
	if at != r.url+"/setup" || !strings.Contains(text, "Continue") {
		t.Fatalf("the page leads to %s:\n%s", at, text)
	}
	text, _ = w.sees(b.Get(r.url + "/setup?" + url.Values{"url": {"https://tunnel.example"}, "name": {"my gate"}, "organization": {""}}.Encode()))
	field := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no %s:\n%s", pattern, text)
		}
		return html.UnescapeString(m[1])
	}
	if !strings.Contains(text, "Create the GitHub App") || !strings.Contains(text, "<code>preadmit-data/app.json</code>") {
		t.Errorf("the second page:\n%s", text)
	}
	_, at = w.sees(b.PostForm(field(`action="([^"]*)"`), url.Values{"manifest": {field(`name="manifest" value="([^"]*)"`)}}))
	if !strings.HasPrefix(at, w.hub.WebURL+"/apps/") || !strings.HasSuffix(at, "/installations/new") {
		t.Fatalf("after GitHub the browser is at %s", at)
	}
	if info, err := os.Stat(filepath.Join(dir, "preadmit-data", "app.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("app.json: %v %v", info, err)
	}
	apps := w.hub.Apps()
	w.app = apps[len(apps)-1]
	w.must(second(w.app.Install("octo")))
	w.app.SetWebhook(r.url+"/webhooks/github", w.app.WebhookSecret()) // the tunnel would lead there
	began := time.Now()
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	t.Logf("judged after %v", time.Since(began).Round(time.Millisecond))
	if text, _ = w.sees(b.Get(r.url + "/")); !strings.Contains(text, "octo/shop") {
		t.Errorf("the pages do not show the scan:\n%s", text)
	}
	if text, _ = w.sees(w.browser().Get(r.url + "/")); strings.Contains(text, "octo/shop") {
		t.Error("the pages show the scan without the key")
	}
	if code := r.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}

	r, page = w.dev(dir)
	w.app.SetWebhook(r.url+"/webhooks/github", w.app.WebhookSecret())
	if text, at = w.sees(w.browser().Get(page)); !strings.Contains(text, "octo/shop") {
		t.Errorf("after a restart %s shows:\n%s", at, text)
	}
	head, err := w.shop.Push("change", githubtest.Files{"app/more.yaml": configMap("more", "fine")})
	w.must(err)
	w.judged(head, "failure", denied)
}

// TestSetupInABrowser checks the setup page in every view: its form, its message for a wrong
// input, and the button that leads to GitHub.
func TestSetupInABrowser(t *testing.T) {
	chromium := browser.Start(t)
	w := newEnv(t)
	r, page := w.dev(t.TempDir())
	s := &site{url: r.url}
	for _, view := range browser.Views() {
		t.Run(view.Name, func(t *testing.T) {
			v := s.viewer(t, chromium)
			browser.Emulate(t, v.tab, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: view.Scheme}}})
			if err := chromedp.Do(v.tab, chromedp.EmulateViewport(view.Width, 900)); err != nil {
				t.Fatal(err)
			}
			heard := browser.Listen(t, v.tab, s.url)
			v.open(strings.TrimPrefix(page, r.url))
			v.sees("/setup", "Continue")
			v.look("setup", view, "input")
			v.open("/setup?" + url.Values{"url": {"https://tunnel.example"}, "name": {"my gate"}}.Encode())
			v.until(`document.querySelector("button.first").innerText === "Create the GitHub App"`)
			v.look("setup-create", view, "input")
			for _, text := range heard.All() {
				t.Error(text)
			}
			v.open("/setup?url=tunnel")
			v.until(`document.querySelector("[role=alert]").innerText.includes("want a URL like")`)
			v.look("setup-wrong", view, "input")
		})
	}
}
