// Package service tests preadmit's service from outside.
package service

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/e2e/browser"
	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// site has the service's pages, and the fake GitHub that viewers log in to: alice may write
// to the private repository octo/shop, eve may not read it. Scan 1 has a report, scan 2 is
// running, others have ended in other ways. GitHub does not know octo/lost.
type site struct {
	url   string
	queue *queue.Queue
	shop  int64 // ID of the repository
}

func newSite(t *testing.T) *site {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	router := chi.NewRouter()
	server := httptest.NewUnstartedServer(router)
	s := &site{url: "http://" + server.Listener.Addr().String(), queue: q}
	p, err := pages.New(pages.Config{Queue: q, App: s.app(t), WebURL: "https://github.com", PublicURL: s.url, Access: pages.AccessGitHub, Admins: []string{"alice"}, Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	p.Routes(router)
	server.Start()
	t.Cleanup(server.Close)
	s.fill(t)
	return s
}

// app returns an App of the fake GitHub.
func (s *site) app(t *testing.T) *app.App {
	t.Helper()
	hub, err := githubtest.New(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	shop, err := hub.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: "shop", Private: true, Files: githubtest.Files{"a.yaml": "a: 1\n"}})
	if err != nil {
		t.Fatal(err)
	}
	s.shop = shop.ID()
	shop.SetRole("alice", "write")
	hub.Intercept(githubtest.Rule{Method: "GET", Path: "/repos/octo/lost", Status: 502, Times: 1 << 30})
	hub.AddUser("alice")
	hub.AddUser("eve")
	made, err := hub.AddApp(githubtest.AppOptions{Callbacks: []string{s.url + "/login/callback"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.Install("octo"); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Config{BaseURL: hub.URL, WebURL: hub.WebURL, Credentials: app.Credentials{
		ID: made.ID, ClientID: made.ClientID, ClientSecret: made.ClientSecret, PrivateKey: made.PrivateKey, WebhookSecret: made.WebhookSecret(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func id(n int) string { return fmt.Sprintf("018f0000-0000-7000-8000-%012d", n) }

// scan returns the n-th scan.
func (s *site) scan(n int) queue.Scan {
	at := time.Now().Add(-time.Duration(n) * time.Hour)
	return queue.Scan{
		ID: id(n), Kind: queue.KindPull, Installation: 1, Repository: s.shop, Owner: "octo", Repo: "shop", Pull: 7, Title: "Raise the limits of the checkout", Author: "alice",
		Head: strings.Repeat("a1", 20), Base: strings.Repeat("b2", 20), Judged: strings.Repeat("c3", 20), State: queue.Completed, Conclusion: "failure",
		Denied: 2, Warned: 1, Reason: "pull_request.synchronize", Attempt: 1, CheckURL: "https://github.com/octo/shop/runs/5",
		Created: at, Started: at.Add(time.Second), Finished: at.Add(5 * time.Second),
	}
}

func (s *site) put(t *testing.T, scan queue.Scan) {
	t.Helper()
	if err := s.queue.PutScan(t.Context(), scan); err != nil {
		t.Fatal(err)
	}
}

// putReport stores a report from the tests of package report for a scan.
func (s *site) putReport(t *testing.T, id, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "report", "format", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.queue.PutReport(t.Context(), id, data); err != nil {
		t.Fatal(err)
	}
}

func (s *site) fill(t *testing.T) {
	t.Helper()
	s.put(t, s.scan(1))
	s.putReport(t, id(1), "change")
	running := s.scan(2)
	running.State, running.Conclusion, running.Stage, running.Done, running.Total = queue.Running, "", "render", 3, 12
	running.Pull, running.Title, running.Finished, running.Denied, running.Warned = 8, strings.Repeat("A title that does not end ", 6), time.Time{}, 0, 0
	s.put(t, running)
	for n, state := range []queue.State{queue.Failed, queue.Cancelled, queue.Superseded} {
		other := s.scan(3 + n)
		other.State, other.Conclusion, other.Why, other.Fork = state, "", "the pack has more than 1 GiB: "+strings.Repeat("x", 120), n == 1
		s.put(t, other)
	}
	clean := s.scan(6)
	clean.Conclusion, clean.Denied, clean.Warned = "success", 0, 0
	s.put(t, clean)
	lost := s.scan(7)
	lost.Repository, lost.Repo = s.shop+1000, "lost" // GitHub does not know it
	s.put(t, lost)
	s.addDeadLetter(t)
}

// addDeadLetter creates a dead letter.
func (s *site) addDeadLetter(t *testing.T) {
	t.Helper()
	if _, _, err := s.queue.Enqueue(t.Context(), queue.Job{Kind: queue.KindPull, Installation: 1, Repository: s.shop, Owner: "octo", Repo: "shop", Pull: 9, Reason: "reconcile", Delivery: "72d3162e-cc78-11e3-81ab-4c9367dc0958"}); err != nil {
		t.Fatal(err)
	}
	claim, err := s.queue.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Bury(t.Context(), fmt.Errorf("GitHub answers 502 to all that it is asked: %s", strings.Repeat("y", 120))); err != nil {
		t.Fatal(err)
	}
}

// viewer is a tab of a browser.
type viewer struct {
	*testing.T
	*site
	tab context.Context
}

// viewer opens a tab without a login.
func (s *site) viewer(t *testing.T, chromium context.Context) *viewer {
	t.Helper()
	tab, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tab, cancel = context.WithTimeout(tab, 2*time.Minute)
	t.Cleanup(cancel)
	return &viewer{t, s, tab}
}

func (v *viewer) open(path string) {
	v.Helper()
	if err := chromedp.Do(v.tab, chromedp.Navigate(v.url+path)); err != nil {
		v.Fatalf("open %s: %v", path, err)
	}
}

func (v *viewer) click(selector string) {
	v.Helper()
	v.until(fmt.Sprintf("document.querySelector(%q) !== null", selector))
	if err := chromedp.Do(v.tab, chromedp.Click(chromedp.CSS(selector))); err != nil {
		v.Fatalf("click %s: %v", selector, err)
	}
}

// until waits for an expression to be true.
func (v *viewer) until(expression string) {
	v.Helper()
	var err error
	for range 150 {
		var is bool
		if is, err = chromedp.Run(v.tab, chromedp.Evaluate[bool](expression)); err == nil && is { // an error: it is on the way to another page
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := chromedp.Run(v.tab, chromedp.Evaluate[string]("location.href + ' ' + document.body.innerText"))
	v.Fatalf("never: %s (%v): %.2000s", expression, err, text)
}

// sees waits for a text on the page at an address.
func (v *viewer) sees(path, text string) {
	v.Helper()
	v.until(fmt.Sprintf("location.href === %q && document.body.innerText.includes(%q)", v.url+path, text))
}

// login logs in through GitHub's page, from a page that requires it.
func (v *viewer) login(login string) {
	v.Helper()
	v.click("a.button")
	v.click("#choose-" + login)
}

// TestPagesInABrowser uses the pages as a viewer: it is refused and admitted, and checks a
// running scan, findings, diff, files, and scanning again.
func TestPagesInABrowser(t *testing.T) {
	chromium := browser.Start(t)
	s := newSite(t)
	t.Run("login", func(t *testing.T) { login(s.viewer(t, chromium)) })
	t.Run("live", func(t *testing.T) { live(s.viewer(t, chromium), 12, true) })
	t.Run("without a script", func(t *testing.T) { live(s.viewer(t, chromium), 13, false) })
	t.Run("findings", func(t *testing.T) { findings(s.viewer(t, chromium)) })
	t.Run("keyboard", func(t *testing.T) { keyboard(s.viewer(t, chromium)) })
	t.Run("looks", func(t *testing.T) { looks(t, s, chromium) })
	t.Run("operator", func(t *testing.T) { operator(s.viewer(t, chromium)) })
}

func login(v *viewer) {
	v.open("/scans/" + id(1))
	v.sees("/scans/"+id(1), "Log in to see this")
	v.login("eve")
	v.sees("/scans/"+id(1), "There is nothing here")
	v.open("/")
	v.sees("/", "There are no scans of repositories that you are known to read")
	v.sees("/", "Your access to some repositories could not be checked with GitHub.")
	v.click(`form[action="/logout"] button`)
	v.sees("/logout", "You are logged out")
	v.login("alice")
	v.sees("/", "Raise the limits")
	v.open("/scans/" + id(1))
	v.sees("/scans/"+id(1), "Scan again")
}

// live checks that an open page shows how a scan begins, progresses and ends.
func live(v *viewer, n int, script bool) {
	v.open("/")
	v.login("alice")
	v.sees("/", "Scans")
	if !script {
		if _, err := chromedp.Call(v.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
			v.Fatal(err)
		}
	}
	scan := v.scan(n)
	scan.State, scan.Conclusion, scan.Stage, scan.Done, scan.Total = queue.Running, "", "render", 1, 12
	v.put(v.T, scan)
	path := "/scans/" + scan.ID
	v.open(path)
	v.sees(path, "The scan runs: render, 1 of 12.")
	scan.Stage, scan.Done = "judge", 7
	v.put(v.T, scan)
	v.sees(path, "The scan runs: judge, 7 of 12.")
	v.until(`document.querySelector("progress").value === 58`)
	scan.State, scan.Conclusion = queue.Completed, "failure"
	v.putReport(v.T, scan.ID, "change")
	v.put(v.T, scan)
	v.until(`document.querySelectorAll("article.finding").length > 0 && !document.querySelector("progress")`)
}

// findings checks a report: a finding with its source, the diff that it links to, and the
// files.
func findings(v *viewer) {
	v.open("/scans/" + id(1))
	v.login("alice")
	v.until(`document.querySelector("article.finding pre.source .hit mark") !== null`)
	v.until(`[...document.querySelectorAll("details.change")].every((e) => !e.open)`)
	v.click(`a[href^="#change-"]`)
	v.until(`[...document.querySelectorAll("details.change")].filter((e) => e.open).length === 1`)
	v.until(`[...document.querySelectorAll("details[open] .diff ins, details[open] .diff del")].some((e) => e.checkVisibility())`)
	dir := v.TempDir()
	v.downloads(dir)
	for _, format := range []string{"json", "sarif"} {
		v.click(`a[href$="/report.` + format + `"]`)
		v.downloaded(filepath.Join(dir, "preadmit-octo-shop-7-a1a1a1a1a1a1."+format), format)
	}
}

// downloads makes the tab store downloads in a directory.
func (v *viewer) downloads(dir string) {
	v.Helper()
	of := chromedp.FromContext(v.tab)
	_, err := chromedp.CallBrowser(v.tab, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: of.BrowserContextID, DownloadPath: dir,
	})
	if err != nil {
		v.Fatal(err)
	}
}

// downloaded waits for a file, which must be the report of scan 1.
func (v *viewer) downloaded(file, name string) {
	v.Helper()
	source, err := os.Open(filepath.Join("..", "..", "report", "format", "testdata", "change.json"))
	if err != nil {
		v.Fatal(err)
	}
	defer source.Close()
	saved, err := report.Open(source)
	if err != nil {
		v.Fatal(err)
	}
	var want bytes.Buffer
	if err := format.WriteSaved(&want, name, saved, format.Options{}); err != nil {
		v.Fatal(err)
	}
	var got []byte
	for range 100 {
		if got, err = os.ReadFile(file); err == nil && len(got) == want.Len() {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !bytes.Equal(got, want.Bytes()) {
		v.Errorf("the file %s has %d bytes, want %d: %v", filepath.Base(file), len(got), want.Len(), err)
	}
}

// operator scans again and revives a dead letter.
func operator(v *viewer) {
	v.open("/scans/" + id(6))
	v.login("alice")
	v.click(`form[action$="/rescan"] button`)
	v.until(`document.body.innerText.includes("The scan waits for its turn.")`)
	v.open("/queue")
	v.sees("/queue", "GitHub answers 502")
	v.click(`form[action$="/revive"] button`)
	v.until(`location.pathname.startsWith("/scans/") && document.body.innerText.includes("The scan waits for its turn.")`)
	v.open("/queue")
	v.until(`document.querySelector("#dead").innerText.includes("None.")`)
}

// looks examines every kind of page in every view.
func looks(t *testing.T, s *site, chromium context.Context) {
	shown := []struct{ name, path string }{
		{"scans", "/"}, {"repository", "/repos/octo/shop"}, {"pull", "/repos/octo/shop/pulls/7"}, {"scan", "/scans/" + id(1)},
		{"running", "/scans/" + id(2)}, {"failed", "/scans/" + id(3)}, {"clean", "/scans/" + id(6)}, {"queue", "/queue"},
	}
	for _, view := range browser.Views() {
		t.Run(view.Name, func(t *testing.T) {
			v := s.viewer(t, chromium)
			browser.Emulate(t, v.tab, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: view.Scheme}}})
			if err := chromedp.Do(v.tab, chromedp.EmulateViewport(view.Width, 900)); err != nil {
				t.Fatal(err)
			}
			v.open("/")
			v.look("login", view)
			v.login("alice")
			v.sees("/", "Scans")
			heard := browser.Listen(t, v.tab, s.url)
			for _, page := range shown {
				v.open(page.path)
				v.look(page.name, view)
			}
			for _, text := range heard.All() {
				t.Error(text)
			}
			v.open("/none")
			v.look("nothing", view)
		})
	}
}

// look examines a page, which may have scripts, forms and other elements.
func (v *viewer) look(name string, view browser.View, other ...string) {
	v.Helper()
	browser.Examine(v.T, v.tab, name, append(other, "script", "form")...)
	browser.Shoot(v.T, v.tab, "service-"+name+"-"+view.Name)
	if view.Width > 400 {
		browser.Axe(v.T, v.tab)
	}
}
