package html

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// newPage returns the page of a report and the view of its template, with all sections rendered.
func newPage(r *report.Report, opts Options) (*page, pageView, error) {
	templates, err := template.New("").Funcs(template.FuncMap{"unbroken": Unbroken}).Parse(templates)
	if err != nil {
		return nil, pageView{}, err
	}
	h := &page{
		templates: templates, opts: opts,
		compared: r.Change.Base != nil, anchors: map[changeKey]string{},
	}
	view := h.view(r)
	return h, view, h.err
}

// page renders the parts of a page.
type page struct {
	templates *template.Template
	opts      Options
	// compared is set when there is a base.
	compared bool
	// anchors has the IDs of objects in the rendered diff.
	anchors map[changeKey]string
	count   int
	err     error
}

// pageView is the data of the page's template.
type pageView struct {
	Style     template.CSS
	StyleHash string
	Title     string
	// Class is the CSS class of the worst finding: deny, warn, audit or clean.
	Class            string
	Headline, Counts string
	// Warning is the note that no policy was in force, Webhooks the one on webhooks that were
	// not called.
	Warning    string
	Webhooks   string
	Base, Head string
	// Hidden describes what is not listed.
	Hidden string
	// Many is set for a large page, which a browser should not lay out all at once.
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
	hash := sha256.Sum256([]byte(style))
	counts := outline.CountsOf(r, false)
	v := pageView{
		Style: template.CSS(style), StyleHash: base64.StdEncoding.EncodeToString(hash[:]),
		Class: pageClass(counts.Worst()), Headline: capital(counts.Headline()), Head: outline.Revision(r.Change.Head),
		Counts: outline.Scope(&r.Summary), Warning: outline.NoPolicies(r), Webhooks: outline.Webhooks(r),
		MadeBy: toolText(r.Tool),
	}
	if r.Change.Base != nil {
		v.Base = outline.Revision(*r.Change.Base)
	}
	if !h.opts.Verbose {
		v.Hidden = outline.Untouched(r)
	}
	v.Title = "preadmit: " + v.Headline
	changes := h.changes(r.Changes) // before the findings, which link to it
	fresh, existing := outline.SplitEntries(r, h.opts.Quiet)
	v.Many = len(fresh)+len(existing) > manyEntries
	v.add(h.findings("findings", "Findings", fresh, findingsBytes))
	if !h.opts.Quiet {
		v.add(h.indeterminate(r.Indeterminate))
		v.add(h.charts(r))
		v.add(changes)
		v.add(folded(h.findings("existing", "Findings that the base has too", existing, existingBytes)))
		v.add(h.remarks(r.Diagnostics))
		v.add(h.resolved(r.Findings))
	}
	return v
}

// add adds a section, unless it is empty.
func (v *pageView) add(s sectionView) {
	if s.Count > 0 {
		v.Sections = append(v.Sections, s)
	}
}

func folded(s sectionView) sectionView {
	s.Fold = "Show " + outline.Count(s.Count, "finding")
	return s
}

// capital returns text with a capital first letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func toolText(t report.Tool) string {
	text := outline.Join(" ", escape.Text(t.Name), escape.Text(t.Version))
	if t.Kubernetes != "" {
		text += ", as Kubernetes " + escape.Text(t.Kubernetes)
	}
	return text
}
