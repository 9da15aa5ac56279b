package browser

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// reports is the directory of the reports to show, NAME.json each.
const reports = "../../report/format/testdata"

// TestReportsInABrowser: no request leaves the page, nothing is wider than the screen,
// and contrast, headings, labels and landmarks are as they should be. Screenshots go
// to PREADMIT_SCREENSHOTS, if it is set.
func TestReportsInABrowser(t *testing.T) {
	browser := Start(t)
	for _, name := range []string{"change", "many", "workload", "hostile", "unicode", "secret", "chain", "clean", "empty"} {
		file := writePage(t, name)
		for _, v := range Views() {
			t.Run(name+"/"+v.Name, func(t *testing.T) { look(t, browser, file, name, v) })
		}
	}
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
	opts := format.Options{Blob: "https://github.com/o/r/blob/abc/"}
	if err := format.Write(file, "html", r, opts); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// look examines a page in a tab of its own, first as it opens, then with everything
// unfolded.
func look(t *testing.T, browser context.Context, file, name string, v View) {
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	tab, cancelTime := context.WithTimeout(tab, time.Minute)
	defer cancelTime()
	heard := Listen(t, tab, "file://")
	Emulate(t, tab, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.Scheme}}})
	if err := chromedp.Do(tab, chromedp.EmulateViewport(v.Width, 900), chromedp.Navigate("file://"+file)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	Examine(t, tab, "folded")
	Shoot(t, tab, name+"-"+v.Name)
	unfold := `document.querySelectorAll("details").forEach((e) => { e.open = true })`
	if err := chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](unfold)); err != nil {
		t.Fatal(err)
	}
	Examine(t, tab, "unfolded")
	Shoot(t, tab, name+"-"+v.Name+"-unfolded")
	if v.Width > 400 { // its checks do not depend on the width
		Axe(t, tab)
	}
	for _, text := range heard.All() {
		t.Error(text)
	}
}

// TestFoldedDiffsOpenAtALink: a finding's link to the diff of its object opens the diff,
// without a script.
func TestFoldedDiffsOpenAtALink(t *testing.T) {
	tab, cancel := chromedp.NewContext(Start(t))
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

// TestPrintedReport: a printed report shows everything, also folded parts.
func TestPrintedReport(t *testing.T) {
	tab, cancel := chromedp.NewContext(Start(t))
	defer cancel()
	Emulate(t, tab, emulation.SetEmulatedMediaParams{Media: "print"})
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
