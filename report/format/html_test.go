package format_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// styleOf matches a page's style sheet, which golden pages do not repeat.
var styleOf = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

func page(t testing.TB, r *report.Report, opts format.Options) string {
	t.Helper()
	return string(write(t, "html", r, opts))
}

func TestHTMLGolden(t *testing.T) {
	for _, name := range reports(t) {
		t.Run(name, func(t *testing.T) {
			text := styleOf.ReplaceAllString(page(t, read(t, name), zero), "<style>...</style>")
			text = regexp.MustCompile(`sha256-[^']*`).ReplaceAllString(text, "sha256-...")
			golden(t, filepath.Join("testdata", "html", name+".html"), []byte(text))
		})
	}
}

// TestPolicyAllowsTheStyleSheet: the hash in the page's content security policy is that of
// the style sheet as a browser reads it; otherwise the page would have no style.
func TestPolicyAllowsTheStyleSheet(t *testing.T) {
	text := page(t, read(t, "one"), zero)
	sum := sha256.Sum256([]byte(styleOf.FindStringSubmatch(text)[1]))
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Data != "meta" || attribute(token.Attr, "http-equiv") != "Content-Security-Policy" {
			continue
		}
		if policy, want := attribute(token.Attr, "content"), "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'"; !strings.Contains(policy, want) || !strings.HasPrefix(policy, "default-src 'none';") {
			t.Errorf("the policy is %q, want %q", policy, want)
		}
		return
	}
	t.Error("the page has no policy")
}

func attribute(attributes []html.Attribute, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// pageElements are all elements of a page, and the attributes they may have.
func pageElements() map[string][]string {
	elements := map[string][]string{
		"html": {"lang"}, "meta": {"charset", "name", "content", "http-equiv"}, "link": {"rel", "href"},
		"a": {"href", "rel", "class"}, "details": {"class", "open"}, "nav": {"aria-label"}, "main": {"id", "tabindex"},
		"section": {"id", "aria-labelledby"}, "article": {"class", "id", "aria-labelledby"}, "div": {"class", "id"},
		"span": {"class", "data-n", "aria-hidden"}, "header": {"class"}, "h2": {"id"}, "h4": {"id"},
	}
	for _, name := range strings.Fields("head title style body footer h1 h3 p ul ol li dl dt dd pre code figure figcaption mark summary ins del") {
		elements[name] = []string{"class"}
	}
	return elements
}

// evilStrings returns a report with every string replaced by text that would break out of
// some context of a page.
func evilStrings(t *testing.T, evil string) *report.Report {
	r := read(t, "change")
	r.Indeterminate = read(t, "many").Indeterminate
	r.Diagnostics = append(r.Diagnostics, read(t, "many").Diagnostics...)
	r.Findings = append(r.Findings, read(t, "workload").Findings...)
	var poison func(v reflect.Value)
	poison = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				poison(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				poison(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				poison(v.Index(i))
			}
		case reflect.String:
			if v.Type() == reflect.TypeFor[string]() && v.String() != "base" && v.String() != "head" {
				v.SetString(evil)
			}
		}
	}
	poison(reflect.ValueOf(r).Elem())
	return r
}

// TestHostilePage: with hostile text in every string of a report, the page must have only
// its own elements, attributes and links.
func TestHostilePage(t *testing.T) {
	for _, evil := range []string{
		`</pre></code><script>alert(1)</script><img src=x onerror=alert(1)>`,
		`" onmouseover="alert(1)" x="`, `' onmouseover='alert(1)' x='`, "javascript:alert(1)", "</title></style><script>alert(1)</script>",
		"<!--", "{{.}}", "]]>", "\x00<svg/onload=alert(1)>", "../../../etc/passwd", "//evil.example/x", "data:text/html,<script>1</script>",
		"::stop-commands::x\n \t::add-mask::x\n##[group]x", "\u202e\x1b[2J\u2066", "&lt;script&gt;", "@import url(https://evil.example)",
	} {
		r := evilStrings(t, evil)
		checkPage(t, evil, page(t, r, format.Options{Verbose: true, Blob: "https://github.com/o/r/blob/abc/"}))
		checkPage(t, evil, page(t, r, zero))
	}
}

func checkPage(t *testing.T, evil, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x00\x1b\u202e\u2066") {
		t.Errorf("%q: there are characters that do not show", evil)
	}
	if command := regexp.MustCompile(`(?m)^[\s\pZ]*::.*|##\[.*`).FindString(text); command != "" {
		t.Errorf("%q: a log would obey %q", evil, command)
	}
	allowed := pageElements()
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken:
			t.Errorf("%q: comment %s", evil, z.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			attributes, ok := allowed[token.Data]
			if !ok {
				t.Errorf("%q: element %s", evil, token)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Key) && a.Key != "class" {
					t.Errorf("%q: attribute %s in %s", evil, a.Key, token)
				}
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://github.com/o/r/blob/abc/") && a.Val != "data:," {
					t.Errorf("%q: link to %s", evil, a.Val)
				}
			}
		}
	}
}

// TestPagesLinkToTheDiff: a finding links to the diff of its object, and every link within
// the page has a target.
func TestPagesLinkToTheDiff(t *testing.T) {
	text := page(t, read(t, "change"), zero)
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("id %s is there twice", m[1])
		}
		ids[m[1]] = true
	}
	toDiff := 0
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !ids[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
		if strings.HasPrefix(m[1], "change-") {
			toDiff++
		}
	}
	if toDiff != 5 {
		t.Errorf("%d findings link to the diff, want 5", toDiff)
	}
}

// TestPagesUnderlineTheRange: the columns of the location are marked, also in a line that
// is cut.
func TestPagesUnderlineTheRange(t *testing.T) {
	long := strings.Repeat("{é:1},", 1000)
	for _, c := range []struct {
		line       string
		start, end int
		want       string
	}{
		{"replicas: 20", 11, 13, `data-n="7">replicas: <mark>20</mark>`},
		{"名: 東京 x", 4, 6, `名: <mark>東京</mark> x`},
		{"\tx: <b>", 5, 8, `    x: <mark>&lt;b&gt;</mark>`},
		{"key:", 6, 9, `key:<mark> </mark>`},
		{"key: v", 6, 0, `key: <mark>v</mark>`},
		{long + "culprit" + long, len([]rune(long)) + 1, len([]rune(long)) + 8, `{é:1},<mark>culprit</mark>{é:1}`},
	} {
		r := read(t, "one")
		l := &r.Findings[0].Location
		l.Snippet, l.SnippetLine, l.StartLine, l.EndLine = []string{c.line}, 7, 7, 7
		l.StartColumn, l.EndColumn = c.start, c.end
		text := page(t, r, zero)
		if !strings.Contains(text, c.want) {
			at := strings.Index(text, "<mark>")
			t.Errorf("no %s near %.200s", c.want, text[max(0, at-100):])
		}
		if len(text) > 60_000 {
			t.Errorf("a line of %d bytes makes a page of %d", len(c.line), len(text))
		}
	}
}

// TestPagesAreBounded: for 30,000 findings the page is small enough to open, counts what is
// left out, and is written quickly.
func TestPagesAreBounded(t *testing.T) {
	r := manyFindings(t, 30_000)
	r.Changes = read(t, "change").Changes
	o := r.Changes.Objects[0]
	o.Diff = slices.Repeat(o.Diff, 100)
	r.Changes.Objects = slices.Repeat([]report.ObjectChange{o}, 3000)
	start := cputime.Used()
	text := page(t, r, zero)
	if spent := cputime.Used() - start; spent > 15*time.Second {
		t.Errorf("took %s", spent)
	}
	if len(text) > 22<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
	for _, c := range []struct{ section, part, noun string }{
		{"findings", `<article class="finding`, "finding"},
		{"existing", `<article class="finding`, "finding"},
		{"changes", `<details class="change"`, "changed object"},
	} {
		_, section, _ := strings.Cut(text, `<section id="`+c.section+`"`)
		section, _, _ = strings.Cut(section, "</section>")
		total := count(t, section, `<h2 id="`+c.section+`-title">[^<]*<span class="n">(\d+)</span>`)
		left := count(t, section+"Left out for size: 0 "+c.noun+".", `Left out for size: (\d+) `+c.noun+`s?\.`)
		if shown := strings.Count(section, c.part); total != shown+left || (left == 0) != (c.section == "existing") || shown == 0 {
			t.Errorf("%s: %d are told of, %d shown, %d left out", c.section, total, shown, left)
		}
	}
}

func count(t *testing.T, text, pattern string) (n int) {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s", pattern)
	}
	if _, err := fmt.Sscan(m[1], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestQuietPage: a quiet page has only denials.
func TestQuietPage(t *testing.T) {
	text := page(t, read(t, "change"), format.Options{Quiet: true})
	if !strings.Contains(text, "images need a fixed tag") || strings.Contains(text, "memory limit") || strings.Contains(text, "Rendered diff") {
		t.Errorf("got:\n%s", text)
	}
}

// TestPagesLinkToFiles: only places with a known URL have links, and never those of the base.
func TestPagesLinkToFiles(t *testing.T) {
	text := page(t, read(t, "change"), format.Options{Blob: "https://github.com/o/r/blob/abc/"})
	if !strings.Contains(text, `<a href="https://github.com/o/r/blob/abc/app/cart.yaml#L7" rel="noreferrer"><code>app/cart.yaml:7:1</code></a>`) {
		t.Error("no link to the file")
	}
	if strings.Contains(text, "blob/abc/app/orders.yaml") {
		t.Error("links to a file that the head does not have")
	}
}

// BenchmarkHTML6000 writes the page of 6,000 findings.
func BenchmarkHTML6000(b *testing.B) {
	r := manyFindings(b, 6000)
	b.ReportAllocs()
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := format.Write(&out, "html", r, zero); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(out.Len())/1e6, "MB/page")
}
