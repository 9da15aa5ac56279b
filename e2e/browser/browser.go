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

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed checks.js
var checks string

// A View is a color scheme and a screen width in which a page is checked.
type View struct {
	Name   string
	Scheme string
	Width  int64
}

// Views returns all views in which pages are checked.
func Views() []View {
	return []View{
		{"light", "light", 1200}, {"dark", "dark", 1200},
		{"light-375", "light", 375}, {"dark-375", "dark", 375},
	}
}

// programs are the supported browsers. The headless one comes first: it needs a third of the processor time.
var programs = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// Start starts a browser, or skips the test if there is none.
func Start(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range programs {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("there is no Chromium: make browser installs it as root, or: apt-get install chromium-headless-shell")
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

// Complaints are unexpected requests, log entries and exceptions of a page.
type Complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *Complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

// All returns the complaints so far.
func (c *Complaints) All() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// Listen records requests for URLs that do not begin with own, log entries and exceptions.
func Listen(t *testing.T, tab context.Context, own string) *Complaints {
	t.Helper()
	c := &Complaints{}
	err := chromedp.Listen(tab, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, own) && !strings.HasPrefix(url, "data:") {
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

// Emulate sets the media features with which the page is shown.
func Emulate(t *testing.T, tab context.Context, media emulation.SetEmulatedMediaParams) {
	t.Helper()
	if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatalf("set the media: %v", err)
	}
}

// Examine reports mistakes in the page: elements that run, load or send something, except
// allowed ones, and mistakes in landmarks, headings, labels, width and contrast.
func Examine(t *testing.T, tab context.Context, how string, allowed ...string) {
	t.Helper()
	list, err := json.Marshal(append([]string{}, allowed...))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := chromedp.Run(tab, chromedp.Evaluate[[]string](fmt.Sprintf("(%s)(%s)", strings.TrimSpace(checks), list)))
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

// Shoot writes a screenshot of the whole page to the directory in PREADMIT_SCREENSHOTS, if
// that is set.
func Shoot(t *testing.T, tab context.Context, name string) {
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

// violation is a violation that axe-core reports for some elements.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML string `json:"html"`
	} `json:"nodes"`
}

// Axe reports violations of WCAG 2.2 AA and of best practices that axe-core finds, if make
// has fetched it.
func Axe(t *testing.T, tab context.Context) {
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
