package format

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed" // the template and the style sheet
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// How many bytes each part of a page may have. What has no room is counted.
// docs/report.md tells of them.
const (
	findingsBytes = 10 << 20
	existingBytes = 4 << 20
	changesBytes  = 4 << 20
	listBytes     = 1 << 20
)

// manyEntries is more findings than a browser lays out in no time.
const manyEntries = 500

//go:embed html.tmpl
var htmlSource string

//go:embed html.css
var htmlStyle string

// writeHTML writes the report as one file that needs nothing else: no script, no
// font, no image. It has no durations, so that equal reports give equal pages.
//
// Whatever is of a repository passes escape, so that it can be seen, and then
// html/template, so that it is text. Even if both failed, the page's policy lets no
// script run and nothing be fetched.
func writeHTML(w *bufio.Writer, r *report.Report, opts Options) error {
	h, view, err := newPage(r, opts)
	if err != nil {
		return err
	}
	text := h.part("page", view)
	if h.err != nil {
		return h.err
	}
	_, err = w.WriteString(text)
	return err
}

// newPage makes all parts of a page, and what the page itself says.
func newPage(r *report.Report, opts Options) (*page, pageView, error) {
	templates, err := template.New("").Parse(htmlSource)
	if err != nil {
		return nil, pageView{}, err
	}
	h := &page{
		templates: templates, opts: opts,
		told:    &markdown{opts: opts, compared: r.Change.Base != nil},
		anchors: map[changeKey]string{},
	}
	view := h.view(r)
	return h, view, h.err
}

// page makes the parts of a page.
type page struct {
	templates *template.Template
	opts      Options
	// told says what the formats for reading have in common.
	told *markdown
	// anchors are the places of objects in the rendered diff.
	anchors map[changeKey]string
	count   int
	err     error
}

// pageView is what the page's template shows.
type pageView struct {
	Style     template.CSS
	StyleHash string
	Title     string
	// Class is the worst that the report tells: deny, warn, audit or clean.
	Class            string
	Headline, Counts string
	// Detail is the headline with what is new and what is not.
	Detail     string
	Base, Head string
	// Many is set for a page so large that a browser should not lay out all of it at
	// once.
	Many     bool
	Sections []sectionView
	MadeBy   string
}

// sectionView is a section with its heading.
type sectionView struct {
	ID, Title, Intro string
	Count            int
	// Fold, when set, hides the body behind this text.
	Fold    string
	Body    template.HTML
	LeftOut string
}

func (h *page) view(r *report.Report) pageView {
	hash := sha256.Sum256([]byte(htmlStyle))
	v := pageView{
		Style: template.CSS(htmlStyle), StyleHash: base64.StdEncoding.EncodeToString(hash[:]),
		Class: pageClass(r), Headline: capital(outcomeText(tallyOf(r.Findings), r, false)), Head: revision(r.Change.Head),
		Counts: fmt.Sprintf("%s, %s, %s", rootsText(r.Summary.Roots), count(r.Summary.Requests, "request"), policies(r.Summary.Policies)),
		MadeBy: toolText(r.Tool),
	}
	if r.Change.Base != nil {
		v.Base = revision(*r.Change.Base)
	}
	if detail := outcomeText(tallyOf(r.Findings), r, h.told.compared); capital(detail) != v.Headline {
		v.Detail = detail
	}
	v.Title = "preadmit: " + v.Headline
	changes := h.changes(r.Changes) // before the findings, which link to it
	fresh, existing := h.told.entries(r)
	v.Many = len(fresh)+len(existing) > manyEntries
	v.add(h.findings("findings", "Findings", fresh, findingsBytes))
	if !h.opts.Quiet {
		v.add(h.indeterminate(r.Indeterminate))
		v.add(changes)
		v.add(folded(h.findings("existing", "Findings that the base has too", existing, existingBytes)))
		v.add(h.remarks(r.Diagnostics))
		v.add(h.resolved(r.Findings))
	}
	return v
}

// add adds a section, if it tells anything.
func (v *pageView) add(s sectionView) {
	if s.Count > 0 {
		v.Sections = append(v.Sections, s)
	}
}

func folded(s sectionView) sectionView {
	s.Fold = "Show " + count(s.Count, "finding")
	return s
}

// capital begins text with a capital letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// pageClass is the worst that a report tells.
func pageClass(r *report.Report) string {
	switch summaryStyle(tallyOf(r.Findings), r) {
	case red:
		return "deny"
	case yellow:
		return "warn"
	case blue:
		return "audit"
	}
	return "clean"
}

func toolText(t report.Tool) string {
	text := joinNonEmpty(" ", escape(t.Name), escape(t.Version))
	if t.Kubernetes != "" {
		text += ", as Kubernetes " + escape(t.Kubernetes)
	}
	return text
}

// pieces are parts of a section, within a number of bytes. A part that has no room is
// left out as a whole, and so is everything after it.
type pieces struct {
	b     strings.Builder
	limit int
	full  bool
	// left counts what was left out.
	left int
}

// put adds a part that stands for n; it reports whether there was room.
func (p *pieces) put(text string, n int) bool {
	if p.full = p.full || p.b.Len()+len(text) > p.limit; p.full {
		p.left += n
		return false
	}
	p.b.WriteString(text)
	return true
}

func (p *pieces) html() template.HTML { return template.HTML(p.b.String()) } // parts are html/template's

// jsonHasAll says where to find what had no room.
const jsonHasAll = "The report in JSON has all."

// leftOut says what had no room, and where it is; empty if all had.
func (p *pieces) leftOut(noun, elsewhere string) string {
	if p.left == 0 {
		return ""
	}
	return fmt.Sprintf("Left out for size: %s. %s", count(p.left, noun), elsewhere)
}

// part executes a template of one part. A page may be printed to a log: no line of a
// part is a workflow command.
func (h *page) part(name string, view any) string {
	var b bytes.Buffer
	if err := h.templates.ExecuteTemplate(&b, name, view); err != nil && h.err == nil {
		h.err = err
	}
	return guardHTML(b.String())
}

// next is a number of its own for each part that can be linked to.
func (h *page) next() int {
	h.count++
	return h.count
}
