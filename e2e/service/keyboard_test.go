package service

import (
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keyboard opens a change and scans again without a mouse. The focused element must be marked.
func keyboard(v *viewer) {
	scan := v.scan(14)
	v.put(v.T, scan)
	v.putReport(v.T, scan.ID, "change")
	v.open("/scans/" + scan.ID)
	v.login("alice")
	v.until(`document.querySelector("article.finding") !== null`)
	v.tabTo("Skip to the page")
	v.press(kb.Enter)
	v.until(`document.activeElement.id === "main"`)
	v.tabTo("CREATE")
	v.press(kb.Enter)
	v.until(`[...document.querySelectorAll("details.change")].filter((e) => e.open).length === 1`)
	v.open("/scans/" + scan.ID)
	v.tabTo("Scan again")
	v.press(kb.Enter)
	v.until(`document.body.innerText.includes("The scan waits for its turn.")`)
}

func (v *viewer) press(key string) {
	v.Helper()
	if err := chromedp.Do(v.tab, chromedp.KeyEvent(key)); err != nil {
		v.Fatal(err)
	}
}

// focused returns the text of the focused element, with the prefix "unmarked: " unless it is
// visible with an outline.
const focused = `(() => {
	const e = document.activeElement;
	if (e === document.body) return "";
	const style = getComputedStyle(e), box = e.getBoundingClientRect();
	const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
	const inView = box.width > 0 && box.top >= 0 && box.bottom <= innerHeight;
	return (outlined && inView ? "" : "unmarked: ") + e.innerText.trim();
})()`

// tabTo presses the tab key until the focused element begins with a text.
func (v *viewer) tabTo(what string) {
	v.Helper()
	for range 200 {
		v.press(kb.Tab)
		here, err := chromedp.Run(v.tab, chromedp.Evaluate[string](focused))
		if err != nil {
			v.Fatal(err)
		}
		if strings.HasPrefix(here, "unmarked") {
			v.Errorf("the focus does not show: %q", here)
		}
		if strings.HasPrefix(here, what) {
			return
		}
	}
	v.Fatalf("the focus never comes to %s", what)
}
