// Package browser opens preadmit's HTML reports in Chromium and looks at them as
// readers do: in light and in dark, on a wide screen and on a telephone, and with the
// eyes of a tool for accessibility.
package browser

import (
	"context"
	_ "embed" // checks.js
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/preadmit/preadmit/report"
)

//go:embed checks.js
var checks string

// reports is where the reports to show lie; each NAME.json is one.
const reports = "../../report/testdata"

// A view is a way to look at a page.
type view struct {
	name   string
	scheme string
	width  int64
}

func views() []view {
	return []view{
		{"light", "light", 1200}, {"dark", "dark", 1200},
		{"light-375", "light", 375}, {"dark-375", "dark", 375},
	}
}

// TestReportsInABrowser: no request leaves the page, nothing is wider than the screen,
// and contrast, headings, labels and landmarks are as they should be. Screenshots go
// to PREADMIT_SCREENSHOTS, if it is set.
func TestReportsInABrowser(t *testing.T) {
	browser := start(t)
	for _, name := range []string{"change", "many", "workload", "hostile", "unicode", "secret", "chain", "clean", "empty"} {
		file := writePage(t, name)
		for _, v := range views() {
			t.Run(name+"/"+v.name, func(t *testing.T) { look(t, browser, file, name, v) })
		}
	}
}

// start starts a browser, or skips the test and says what is missing.
func start(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("there is no Chromium: make browser installs it as root, or: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	browser, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return browser
}

// writePage writes a report as HTML to a file.
func writePage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.Open(filepath.Join(reports, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	r, err := report.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), name+".html"))
	if err != nil {
		t.Fatal(err)
	}
	opts := report.Options{Blob: "https://github.com/o/r/blob/abc/"}
	if err := report.Write(file, "html", r, opts); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// look opens a page in a tab of its own, first as it is, then with all that is folded
// unfolded.
func look(t *testing.T, browser context.Context, file, name string, v view) {
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	tab, cancelTime := context.WithTimeout(tab, time.Minute)
	defer cancelTime()
	heard := listen(t, tab)
	emulate(t, tab, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}})
	if err := chromedp.Do(tab, chromedp.EmulateViewport(v.width, 900), chromedp.Navigate("file://"+file)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	examine(t, tab, "folded")
	shoot(t, tab, name+"-"+v.name)
	unfold := `document.querySelectorAll("details").forEach((e) => { e.open = true })`
	if err := chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](unfold)); err != nil {
		t.Fatal(err)
	}
	examine(t, tab, "unfolded")
	shoot(t, tab, name+"-"+v.name+"-unfolded")
	if v.width > 400 { // what it looks at does not depend on the width
		axe(t, tab)
	}
	for _, text := range heard.all() {
		t.Error(text)
	}
}

// complaints are what a browser says while it shows a page.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// listen hears of requests other than for the page itself, and of errors.
func listen(t *testing.T, tab context.Context) *complaints {
	t.Helper()
	c := &complaints{}
	err := chromedp.Listen(tab, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") {
				c.add("request for %s", url)
			}
		case *log.EventEntryAdded:
			c.add("log: %s", e.Entry.Text)
		case *runtime.EventExceptionThrown:
			c.add("exception: %s", e.ExceptionDetails.Text)
		}
	})
	if err == nil {
		_, err = chromedp.Call(tab, network.Enable, network.EnableParams{})
	}
	if err != nil {
		t.Fatalf("listen to the browser: %v", err)
	}
	return c
}

func emulate(t *testing.T, tab context.Context, media emulation.SetEmulatedMediaParams) {
	t.Helper()
	if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatalf("set the media: %v", err)
	}
}

func examine(t *testing.T, tab context.Context, how string) {
	t.Helper()
	wrong, err := chromedp.Run(tab, chromedp.Evaluate[[]string](checks))
	if err != nil {
		t.Fatalf("look at the page: %v", err)
	}
	for i, text := range wrong {
		if i == 10 {
			t.Errorf("%s: and %d more", how, len(wrong)-i)
			break
		}
		t.Errorf("%s: %s", how, text)
	}
}

// shoot takes a picture of the whole page.
func shoot(t *testing.T, tab context.Context, name string) {
	t.Helper()
	dir := os.Getenv("PREADMIT_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatalf("take a picture: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// violation is what axe-core finds wrong with some elements.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML string `json:"html"`
	} `json:"nodes"`
}

// axe asks axe-core, where make fetched it, for violations of WCAG 2.2 AA and of best
// practice.
func axe(t *testing.T, tab context.Context) {
	t.Helper()
	source, err := os.ReadFile("../../bin/e2e/axe.min.js")
	if err != nil {
		t.Log("without axe-core: make browser fetches it")
		return
	}
	if err := chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](string(source))); err != nil {
		t.Fatalf("load axe-core: %v", err)
	}
	violations, err := chromedp.Run(tab, chromedp.Evaluate[[]violation](
		`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("run axe-core: %v", err)
	}
	for _, v := range violations {
		nodes, _ := json.Marshal(v.Nodes[:min(3, len(v.Nodes))]) // strings only
		t.Errorf("axe-core: %s: %s: %.600s", v.ID, v.Help, nodes)
	}
}

// TestFoldedDiffsOpenAtALink: following a finding's link to the diff of its object
// shows it, without a script.
func TestFoldedDiffsOpenAtALink(t *testing.T) {
	tab, cancel := chromedp.NewContext(start(t))
	defer cancel()
	open := func() int {
		t.Helper()
		n, err := chromedp.Run(tab, chromedp.Evaluate[int](`[...document.querySelectorAll("details.change")].filter((e) => e.open).length`))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := chromedp.Do(tab, chromedp.Navigate("file://"+writePage(t, "change"))); err != nil {
		t.Fatal(err)
	}
	if n := open(); n != 0 {
		t.Errorf("%d diffs are open before", n)
	}
	if err := chromedp.Do(tab, chromedp.Click(chromedp.CSS(`a[href^="#change-"]`)), chromedp.Sleep(200*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n := open(); n != 1 {
		t.Errorf("%d diffs are open after", n)
	}
}

// TestPrintedReport: on paper there is everything, folded or not.
func TestPrintedReport(t *testing.T) {
	tab, cancel := chromedp.NewContext(start(t))
	defer cancel()
	emulate(t, tab, emulation.SetEmulatedMediaParams{Media: "print"})
	if err := chromedp.Do(tab, chromedp.Navigate("file://"+writePage(t, "change"))); err != nil {
		t.Fatal(err)
	}
	hidden, err := chromedp.Run(tab, chromedp.Evaluate[int](
		`[...document.querySelectorAll("pre.diff, .finding dl")].filter((e) => !e.checkVisibility({contentVisibilityAuto: true})).length`))
	if err != nil || hidden > 0 {
		t.Errorf("%d parts are hidden: %v", hidden, err)
	}
	pdf, err := chromedp.Run(tab, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil || len(pdf) < 1000 {
		t.Errorf("%d bytes of PDF: %v", len(pdf), err)
	}
	if dir := os.Getenv("PREADMIT_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "change.pdf"), pdf, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
