package pages_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	reporthtml "github.com/preadmit/preadmit/report/format/html"
	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

func TestListsAndHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.wants(s.get("/", 200).body, "There are no scans of repositories")
	s.put(scanOf(1), nil)
	s.put(scanOf(2), func(c *queue.Scan) { c.Pull, c.Title, c.Conclusion, c.Denied, c.Warned = 8, "Other", "success", 0, 0 })
	s.put(scanOf(3), func(c *queue.Scan) { c.Repository, c.Repo, c.State = 12, "infra", queue.Failed })

	s.wants(s.get("/", 200).body, "octo/shop", "#7 Raise the limits", "#8 Other", "octo/infra", "2\u00a0denied, 1\u00a0warning", "Denied", "Passed", "Failed",
		`<time datetime="2026-11-20T10:00:01Z">2026-11-20 10:00:01 UTC</time>`, "took&nbsp;3.0s", "by&nbsp;alice")
	s.wants(s.get("/repos/octo/shop", 200).body, "#7", "#8", "!infra", `href="https://github.com/octo/shop"`)
	s.wants(s.get("/repos/OCTO/Shop", 200).body, "<h1>octo/shop</h1>")
	s.wants(s.get("/repos/octo/shop/pulls/7", 200).body, "Raise the limits", "!Other", "!all of")
	for path, link := range map[string]bool{"/": true, "/repos/octo/shop": false} { // rows omit what is the same for the whole page
		if body := s.get(path, 200).body; strings.Contains(body, `<span><a href="/repos/octo/shop">`) != link || !strings.Contains(body, "all of") {
			t.Errorf("%s: rows lead to the repository: want %v in %s", path, link, body)
		}
	}
	s.wants(s.get("/?before="+id(99), 200).body, "is no longer kept", "!There are no scans")
	for _, path := range []string{"/repos/octo/none", "/repos/octo/shop/pulls/9", "/repos/octo/shop/pulls/x", "/scans/" + id(9), "/scans/x", "/none"} {
		s.wants(s.get(path, 404).body, "There is nothing here")
	}
}

// TestLongList checks that a list links to its next page.
func TestLongList(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for n := range 120 {
		s.put(scanOf(n), nil)
	}
	seen := map[string]int{}
	path, pages := "/", 0
	for link := regexp.MustCompile(`href="(/\?before=[^"]+)"`); path != ""; pages++ {
		body := s.get(path, 200).body
		for _, m := range regexp.MustCompile(`/scans/([0-9a-f-]{36})`).FindAllStringSubmatch(body, -1) {
			seen[m[1]]++
		}
		path = ""
		if m := link.FindStringSubmatch(body); m != nil {
			path = m[1]
		}
	}
	if pages != 3 || len(seen) != 120 {
		t.Errorf("%d pages show %d scans", pages, len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("scan %s is shown %d times", id, n)
		}
	}
}

func TestScanPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), nil)
	s.wants(s.get("/scans/"+id(1), 200).body, "There is no report of this scan", "Denied", "!report.json")
	s.putReport(id(1), "change")
	body := s.get("/scans/"+id(1), 200).body
	s.wants(body, `<section id="findings"`, `<section id="changes"`, `class="source"`, `class="diff"`, "report.json", "report.sarif",
		`action="/scans/`+id(1)+`/rescan"`, "https://github.com/octo/shop/blob/"+strings.Repeat("c3", 20)+"/", "octo/shop",
		"https://github.com/octo/shop/pull/7", "https://github.com/octo/shop/runs/5", "!http-equiv", "!live.")
}

// TestLiveStatus checks that the page of a scan that is not over reloads itself without a script, and
// serves the changing part to the script.
func TestLiveStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), func(c *queue.Scan) { c.State, c.Stage, c.Done, c.Total = queue.Running, "render", 3, 12 })
	s.wants(s.get("/scans/"+id(1), 200).body, `<noscript><meta http-equiv="refresh" content="5"></noscript>`, "The scan runs: render, 3 of 12.",
		`max="100" value="25"`, `data-live="/scans/`+id(1)+`/status"`, "!rescan", `src="/static/live.`)
	part := s.get("/scans/"+id(1)+"/status", 200)
	s.wants(part.body, "render, 3 of 12", "!<html")
	if got := part.header.Get("Preadmit-State"); got != "running" {
		t.Errorf("the state is %q", got)
	}
	s.put(scanOf(1), func(c *queue.Scan) { c.State, c.Why = queue.Failed, "the clone has more than 1 GiB" })
	s.wants(s.get("/scans/"+id(1), 200).body, "!refresh", "!<script", "could not be completed", "the clone has more than 1 GiB", "rescan")
	s.put(scanOf(1), func(c *queue.Scan) { c.State, c.SupersededBy = queue.Superseded, id(2) })
	s.wants(s.get("/scans/"+id(1), 200).body, `href="/scans/`+id(2)+`"`)
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), nil)
	s.get("/scans/"+id(1)+"/report.json", 404)
	saved, err := report.Open(bytes.NewReader(s.putReport(id(1), "secret")))
	if err != nil {
		t.Fatal(err)
	}
	for name, contentType := range map[string]string{"json": "application/json", "sarif": "application/sarif+json"} {
		var want bytes.Buffer
		if err := format.WriteSaved(&want, name, saved, format.Options{}); err != nil {
			t.Fatal(err)
		}
		got := s.get("/scans/"+id(1)+"/report."+name, 200)
		if got.body != want.String() {
			t.Errorf("the %s is not that of the report package", name)
		}
		disposition := "attachment; filename=preadmit-octo-shop-7-a1a1a1a1a1a1." + name
		if got.header.Get("Content-Type") != contentType || got.header.Get("Content-Disposition") != disposition {
			t.Errorf("%s has the header %v", name, got.header)
		}
	}
}

func TestRescan(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), nil)
	got := s.ask("POST", "/scans/"+id(1)+"/rescan", "")
	to, ok := strings.CutPrefix(got.header.Get("Location"), "/scans/")
	if got.status != 303 || !ok {
		t.Fatalf("the answer is %d %v", got.status, got.header)
	}
	fresh := s.await(to, func(queue.Scan) bool { return true })
	if fresh.Pull != 7 || fresh.Repository != 11 || fresh.Reason != "page" || fresh.State != queue.Queued {
		t.Errorf("the new scan is %+v", fresh)
	}
	s.wants(s.get("/scans/"+to, 200).body, "The scan waits for its turn.")
	claim, err := s.queue.Next(t.Context())
	if err != nil || !claim.Job.Fresh {
		t.Errorf("the job is %+v: %v", claim, err)
	}
}

// TestOtherSites checks that forms of other sites change nothing, and that no page can be framed.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), nil)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		got := s.ask("POST", "/scans/"+id(1)+"/rescan", "", header...)
		if got.status != 403 {
			t.Errorf("%v: the answer is %d", header, got.status)
		}
		s.wants(got.body, "This came from another site")
	}
	if n := len(s.queue.Scans(queue.ScanFilter{})); n != 1 {
		t.Errorf("there are %d scans", n)
	}
	for _, path := range []string{"/", "/scans/" + id(1), "/queue", "/none", "/scans/" + id(1) + "/status"} {
		header := s.ask("GET", path, "").header
		for name, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		} {
			if header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, header.Get(name))
			}
		}
	}
	s.wants(s.get("/scans/"+id(1)+"/rescan", 405).body, "This cannot be done here")
}

// TestOpenIsForThisMachine checks that other machines, and host names of other sites that resolve to
// this machine, get no page.
func TestOpenIsForThisMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), nil)
	for _, host := range []string{"evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1", ""} {
		got := s.ask("GET", "/", "", "Host", host)
		if host != "" && got.status != 403 {
			t.Errorf("as %q it answers %d", host, got.status)
		}
	}
	for _, host := range []string{"localhost:8080", "127.0.0.1", "[::1]:80", "LOCALHOST"} {
		if got := s.ask("GET", "/", "", "Host", host); got.status != 200 {
			t.Errorf("as %q it answers %d", host, got.status)
		}
	}
}

func TestQueuePage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.wants(s.get("/queue", 200).body, "The store takes writes.")
	job, _, err := s.queue.Enqueue(t.Context(), queue.Job{Kind: queue.KindPull, Installation: 1, Repository: 11, Owner: "octo", Repo: "shop", Pull: 7, Reason: "reconcile"})
	if err != nil {
		t.Fatal(err)
	}
	claim, err := s.queue.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Bury(t.Context(), errors.New("<b>no</b> such commit")); err != nil {
		t.Fatal(err)
	}
	body := s.get("/queue", 200).body
	letters, _, _ := strings.Cut(body, `id="recovered"`)
	s.wants(letters, "&lt;b&gt;no&lt;/b&gt; such commit", "octo/shop", "#7", "/scans/"+job.ID)
	form := regexp.MustCompile(`action="(/queue/dead/\d+/revive)"`).FindStringSubmatch(body)
	if form == nil {
		t.Fatalf("there is no button: %s", body)
	}
	if got := s.ask("POST", form[1], ""); got.status != 303 || !strings.HasPrefix(got.header.Get("Location"), "/scans/") {
		t.Errorf("reviving answers %d %v", got.status, got.header)
	}
	s.wants(s.get("/queue", 200).body, "<dt>Given up</dt><dd>0</dd>", "<dt>Waiting</dt><dd>1</dd>")
	if got := s.ask("POST", "/queue/dead/999/revive", ""); got.status != 404 {
		t.Errorf("reviving nothing answers %d", got.status)
	}
	s.await(job.ID, func(c queue.Scan) bool { return c.Reason == "reconcile" })
	s.wants(s.get("/queue", 200).body, "all of #7", `<span><a href="/repos/octo/shop">`)
}

// TestHostileText checks records in which every text tries to break out of the page.
func TestHostileText(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	n := 0
	for _, evil := range []string{
		`</code></p><script>alert(1)</script><img src=x onerror=alert(1)>`, `" onmouseover="alert(1)" x="`, `' onmouseover='alert(1)`,
		"javascript:alert(1)", "</title></style><script>", "<!--", "{{.}}", "\x00<svg/onload=alert(1)>", "../../../etc", "//evil.example/x",
		"data:text/html,<script>1</script>", "\u202e\x1b[2J",
	} {
		n++
		scan := scanOf(n)
		v := reflect.ValueOf(&scan).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.String && f.Type() == reflect.TypeFor[string]() && v.Type().Field(i).Name != "ID" {
				f.SetString(evil)
			}
		}
		for i, state := range []queue.State{queue.Running, queue.Failed, queue.Completed} {
			scan.ID, scan.State = id(1000*(i+1)+n), state
			s.put(scan, nil)
			checkElements(t, evil, s.get("/scans/"+scan.ID, 200).body)
			checkElements(t, evil, s.get("/scans/"+scan.ID+"/status", 200).body)
		}
		s.wants(s.get("/repos/octo/shop", 404).body, "!script")
		checkElements(t, evil, s.get("/", 200).body)
	}
	checkElements(t, "path", s.get("/%3Cscript%3Ealert(1)%3C/script%3E", 404).body)
}

// checkElements reports elements, attributes and links that pages do not have.
func checkElements(t *testing.T, evil, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x00\x1b\u202e") {
		t.Errorf("%q: there are characters that do not show", evil)
	}
	allowed := strings.Fields("html head meta title link noscript body a header div p nav ul ol li h1 h2 main footer form button span code time dl dt dd section progress script")
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind == html.CommentToken {
			t.Errorf("%q: comment %s", evil, z.Raw())
		}
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			checkElement(t, evil, allowed, z.Token())
		}
	}
}

func checkElement(t *testing.T, evil string, allowed []string, token html.Token) {
	t.Helper()
	if !slices.Contains(allowed, token.Data) {
		t.Errorf("%q: element %s", evil, token)
	}
	for _, a := range token.Attr {
		link := a.Key == "href" || a.Key == "src" || a.Key == "action"
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" || link && !regexp.MustCompile(`^(/[^/]|/$|#|https://|data:,$)`).MatchString(a.Val) {
			t.Errorf("%q: attribute %s=%q", evil, a.Key, a.Val)
		}
		if link && strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "https://github.com/") {
			t.Errorf("%q: link %s", evil, a.Val)
		}
		if token.Data == "script" && !strings.HasPrefix(a.Val, "/static/live.") && a.Key == "src" {
			t.Errorf("%q: script %s", evil, a.Val)
		}
	}
}

// TestStaticFiles checks that the static files exist under the names in pages, and never change.
func TestStaticFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), func(c *queue.Scan) { c.State = queue.Running })
	body := s.get("/scans/"+id(1), 200).body
	files := regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(body, -1)
	if len(files) != 2 {
		t.Fatalf("the page uses %v", files)
	}
	for i, want := range []string{"text/css; charset=utf-8", "text/javascript; charset=utf-8"} {
		got := s.get(files[i][1], 200)
		if got.header.Get("Content-Type") != want || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s has the header %v", files[i][1], got.header)
		}
	}
	s.wants(s.get(files[0][1], 200).body, reporthtml.Stylesheet())
	s.get("/static/pages.css", 404)
}

// TestBrokenReport checks the page for a report that cannot be read.
func TestBrokenReport(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.put(scanOf(1), nil)
	if err := s.queue.PutReport(t.Context(), id(1), []byte(`{"kind":"<script>"}`)); err != nil {
		t.Fatal(err)
	}
	s.await(id(1), func(c queue.Scan) bool { return c.HasReport })
	s.wants(s.get("/scans/"+id(1), 500).body, "Something went wrong", "!script")
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]pages.Config{
		"publicURL: want the URL":             {Access: pages.AccessOpen},
		"must have no path":                   {PublicURL: "https://example.org/preadmit", Access: pages.AccessOpen},
		"for the loopback interface only":     {PublicURL: "https://example.org", Access: pages.AccessOpen},
		"app.clientID and app.clientSecretFi": {PublicURL: "https://example.org", Access: pages.AccessGitHub},
		"pages.header":                        {PublicURL: "https://example.org", Access: pages.AccessProxy},
		"pages.access: want github or proxy":  {PublicURL: "https://example.org", Access: "all"},
		"api.tokens[0].sha256":                {PublicURL: "http://localhost", Access: pages.AccessOpen, Tokens: []pages.Token{{Name: "a", SHA256: "secret"}}},
		"api.tokens[0].name":                  {PublicURL: "http://localhost", Access: pages.AccessOpen, Tokens: []pages.Token{{}}},
		"api.tokens[0].repositories":          {PublicURL: "http://localhost", Access: pages.AccessOpen, Tokens: []pages.Token{{Name: "a", SHA256: hash("x"), Repositories: []string{"*"}}}},
	} {
		if _, err := pages.New(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), "secret\"") {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
