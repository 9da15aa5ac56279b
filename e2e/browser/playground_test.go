package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/preadmit/preadmit/report"
	trial "github.com/preadmit/preadmit/scanner/playground"
	"github.com/preadmit/preadmit/webhooks/playground"
)

// judge is a Judge that judges in this process.
type judge struct {
	mu sync.Mutex
	trial.Judge
}

func (j *judge) Answer(ctx context.Context, r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Judge.Answer(ctx, r), nil
}

// playgroundAt returns the address of a playground.
func playgroundAt(t testing.TB) string {
	t.Helper()
	client := 0
	page, err := playground.New(playground.Config{Judge: &judge{}, Version: "v1.2.3", Versions: []string{"1.36", "1.35"}, Client: func(*http.Request) string {
		client++ // all of them are this test
		return fmt.Sprint(client)
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(page.Handler())
	t.Cleanup(server.Close)
	return server.URL + playground.Path
}

// until waits for an expression of the page to be true.
func until(t *testing.T, tab context.Context, what, expression string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		is, err := chromedp.Run(tab, chromedp.Evaluate[bool](expression))
		if err == nil && is {
			return
		}
		if time.Now().After(deadline) {
			text, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText.slice(-600)`))
			t.Fatalf("%s: %v: %s", what, err, text)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

func evaluate[T any](t *testing.T, tab context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(tab, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

const (
	isAnswered = `document.getElementById("result").dataset.answered !== undefined && !document.querySelector(".busy")`
	verdict    = `document.querySelector("#shown .verdict").textContent`
)

// TestPlaygroundInABrowser: every example gets an answer when it is opened, without requests to other
// sites, and the page passes the checks in light and dark mode, wide and narrow.
func TestPlaygroundInABrowser(t *testing.T) {
	browser, url := Start(t), playgroundAt(t)
	for _, e := range playground.Examples() {
		views := Views()
		if !slices.Contains([]string{"pod-security", "json-patch", "params", "type-check"}, e.Name) {
			views = views[:1]
		}
		for _, v := range views {
			t.Run(e.Name+"/"+v.Name, func(t *testing.T) {
				tab, cancel := chromedp.NewContext(browser)
				defer cancel()
				tab, cancelTime := context.WithTimeout(tab, time.Minute)
				defer cancelTime()
				heard := Listen(t, tab, strings.TrimSuffix(url, playground.Path))
				Emulate(t, tab, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.Scheme}}})
				if err := chromedp.Do(tab, chromedp.EmulateViewport(v.Width, 900), chromedp.Navigate(url+"?example="+e.Name)); err != nil {
					t.Fatal(err)
				}
				until(t, tab, "no answer", isAnswered)
				Examine(t, tab, e.Name, "script", "form", "input")
				Shoot(t, tab, "playground-"+e.Name+"-"+v.Name)
				if v.Width > 400 {
					Axe(t, tab)
				}
				for _, text := range heard.All() {
					t.Error(text)
				}
			})
		}
	}
}

// TestPlaygroundAsOneTypes: the answer is updated while typing; a mistake marks its field; and a link
// contains all input without sending it to the server.
func TestPlaygroundAsOneTypes(t *testing.T) {
	browser, url := Start(t), playgroundAt(t)
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	until(t, tab, "no answer", isAnswered)
	if got := evaluate[string](t, tab, verdict); got != "Refused: 422 Invalid" {
		t.Fatalf("the example is %s", got)
	}
	typeInto := func(field, text string) {
		t.Helper()
		evaluate[chromedp.Void](t, tab, fmt.Sprintf(`{const f = document.getElementById(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true}));}`, field, text))
	}
	object := evaluate[string](t, tab, `document.getElementById("object").value`)
	typeInto("object", strings.Replace(object, "replicas: 7", "replicas: 4 # ü", 1))
	until(t, tab, "not allowed", verdict+` === "Allowed"`)
	typeInto("object", "a: [")
	until(t, tab, "no mistake", `document.getElementById("object").getAttribute("aria-invalid") === "true"`)
	typeInto("object", strings.Replace(object, "replicas: 7", "replicas: 5 # ü", 1))
	until(t, tab, "not allowed again", verdict+` === "Allowed" && !document.getElementById("object").hasAttribute("aria-invalid")`)

	evaluate[chromedp.Void](t, tab, `{const f = document.getElementById("params"); f.value = "x".repeat(10 << 20); f.dispatchEvent(new Event("input", {bubbles: true}));}`)
	until(t, tab, "10 MiB are asked about", `document.getElementById("shown").textContent.includes("All fields together may have 512 KiB.")`)
	typeInto("params", "")
	until(t, tab, "not allowed without them", isAnswered+` && document.querySelector("#shown .verdict") && `+verdict+` === "Allowed"`)

	evaluate[chromedp.Void](t, tab, `document.getElementById("link").click()`)
	until(t, tab, "no link", `location.hash.startsWith("#try=") && document.getElementById("linked").textContent !== ""`)
	link := evaluate[string](t, tab, `location.href`)
	other, cancel := chromedp.NewContext(browser)
	defer cancel()
	if err := chromedp.Do(other, chromedp.Navigate(link)); err != nil {
		t.Fatal(err)
	}
	until(t, other, "the link's answer", isAnswered+` && `+verdict+` === "Allowed"`)
	const fields = `JSON.stringify([...document.querySelectorAll("#tried textarea, #tried input, #tried select")].map((e) => [e.name, e.value]))`
	if was, is := evaluate[string](t, tab, fields), evaluate[string](t, other, fields); was != is {
		t.Errorf("the link has %s, want %s", is, was)
	}
	if err := chromedp.Do(other, chromedp.Navigate("about:blank"), chromedp.Navigate(url+"#try=AAAA")); err != nil {
		t.Fatal(err)
	}
	until(t, other, "a broken link", `document.getElementById("shown").textContent.includes("This link is broken")`)
}

// TestPlaygroundWithoutAScript: without scripts there is a button.
func TestPlaygroundWithoutAScript(t *testing.T) {
	browser, url := Start(t), playgroundAt(t)
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(tab, chromedp.Navigate(url+"?example=update"), chromedp.Click(chromedp.CSS(`button[name="judge"]`)), chromedp.Sleep(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := evaluate[string](t, tab, verdict); got != "Refused: 422 Invalid" {
		t.Errorf("the answer is %s", got)
	}
	if got := evaluate[string](t, tab, `document.getElementById("operation").value + document.getElementById("oldObject").value.length`); !strings.HasPrefix(got, "UPDATE") || got == "UPDATE0" {
		t.Errorf("the fields are %s", got)
	}
}

// press presses a key a number of times.
func press(t *testing.T, tab context.Context, key string, times int, options ...chromedp.KeyOption) {
	t.Helper()
	for range times {
		if err := chromedp.Do(tab, chromedp.KeyEvent(key, options...)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlaygroundByKeyboard: everything can be used by keyboard, in reading order and with a visible focus,
// including judging.
func TestPlaygroundByKeyboard(t *testing.T) {
	browser, url := Start(t), playgroundAt(t)
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	until(t, tab, "no answer", isAnswered)
	var order []string
	for range 20 {
		press(t, tab, kb.Tab, 1)
		at := evaluate[string](t, tab, `(() => {
			const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
			const seen = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none";
			const inside = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
			return (e.name || e.id || e.textContent.trim()) + (seen ? "" : " without a focus that one sees") + (inside ? "" : " outside");
		})()`)
		if order = append(order, at); at == "link" {
			break
		}
	}
	want := []string{
		"Skip to the answer", "preadmit", "example", "Show", "policies", "operation", "user", "groups", "subresource", "version", "object",
		"Old object, for UPDATE and DELETE", "Params", "Namespaces, CustomResourceDefinitions", "Roles and their bindings, for the authorizer",
		"judge", "suite", "link",
	}
	if !slices.Equal(order, want) {
		t.Fatalf("Tab comes to %q,\nwant %q", order, want)
	}
	press(t, tab, kb.Tab, 1, chromedp.KeyModifiers(chromedp.ModifierShift))
	press(t, tab, kb.Tab, 1, chromedp.KeyModifiers(chromedp.ModifierShift))
	before := evaluate[string](t, tab, `document.getElementById("result").dataset.answered`)
	press(t, tab, kb.Enter, 1)
	until(t, tab, "no answer to Enter on the button", isAnswered+` && document.getElementById("result").dataset.answered !== "`+before+`"`)

	// Enter in a single-line field judges as well, and Enter opens folded parts.
	evaluate[chromedp.Void](t, tab, `document.getElementById("user").focus()`)
	press(t, tab, "jane", 1)
	press(t, tab, kb.Enter, 1)
	until(t, tab, "no answer to Enter in a field", `document.getElementById("shown").textContent.includes("jane")`)
	evaluate[chromedp.Void](t, tab, `[...document.querySelectorAll("summary")].find((s) => s.textContent === "Params").focus()`)
	press(t, tab, kb.Enter, 1)
	until(t, tab, "Params are not opened", `document.getElementById("params").checkVisibility()`)

	// The first link leads to the answer, and the focus continues from there.
	evaluate[chromedp.Void](t, tab, `document.querySelector(".skip").focus()`)
	press(t, tab, kb.Enter, 1)
	until(t, tab, "the answer is not reached", `document.activeElement.id === "result"`)
}

// TestPlaygroundCarets: the mark of a type check warning is exactly below the character, on wide and narrow
// pages, also after wide characters.
func TestPlaygroundCarets(t *testing.T) {
	browser, url := Start(t), playgroundAt(t)
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	for _, width := range []int64{1280, 375} {
		if err := chromedp.Do(tab, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(width, 900), chromedp.Navigate(url+"?example=type-check")); err != nil {
			t.Fatal(err)
		}
		until(t, tab, "no answer", isAnswered)
		evaluate[chromedp.Void](t, tab, `{const f = document.getElementById("policies"); f.value = f.value.replace(/expression: .*/, "expression: \"object.metadata.name != '日本日本日本日本日本日本日本日本日本日本日本日本' && object.spec.replica > 1\""); f.dispatchEvent(new Event("input", {bubbles: true}));}`)
		until(t, tab, "no warning", `[...document.querySelectorAll(".typed mark")].length > 0 && document.querySelector(".typed").textContent.includes("日本")`)
		got := evaluate[string](t, tab, `(() => {
			const mark = document.querySelector(".typed mark"), r = mark.getBoundingClientRect(), pre = mark.closest("pre");
			return mark.textContent + mark.nextSibling.textContent.slice(0, 8) + (r.width > 0 && r.left >= pre.getBoundingClientRect().left && r.right <= innerWidth ? "" : " outside");
		})()`)
		if got != ".replica " {
			t.Errorf("%d px: marked is %q, want the dot before replica", width, got)
		}
		Shoot(t, tab, fmt.Sprintf("playground-carets-%d", width))
	}
}
