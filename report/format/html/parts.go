package html

import (
	"fmt"
	"html/template"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/mask"
)

// Parts has the parts of a report's page, to embed in other pages. All text is escaped as in
// the page, and the values of Secrets are masked. The parts need the style sheet of
// Stylesheet.
type Parts struct {
	// Class is the CSS class of the worst finding: deny, warn, audit or clean. It sets the
	// colour of an element.
	Class string
	// Headline has the counts of findings, Warning the note that no policy was in force, and
	// Counts what was judged.
	Headline, Warning, Counts string
	// Hidden describes what the sections do not list.
	Hidden string
	// Base and Head name the compared revisions; Base may be empty.
	Base, Head string
	// Contents is a nav element with links to the sections, empty if there are none.
	Contents template.HTML
	// Sections has the section elements, with headings from h2: findings with their sources,
	// what was not judged, the rendered diff, remarks. The IDs in them begin with findings,
	// indeterminate, changes, existing, remarks, resolved, finding- or change-.
	Sections template.HTML
	// Many is set if there are many findings. Their element should then have the class many,
	// which keeps a browser from laying out all of them at once.
	Many bool
	// MadeBy names the program that wrote the report.
	MadeBy string
}

// PartsOf returns the parts of the page that Write writes for a report.
func PartsOf(r *report.Report, opts Options) (*Parts, error) {
	h, view, err := newPage(mask.Report(r), opts)
	if err != nil {
		return nil, fmt.Errorf("write the report as parts of a page: %w", err)
	}
	p := &Parts{
		Class: view.Class, Headline: view.Headline, Warning: view.Warning, Hidden: view.Hidden, Counts: view.Counts,
		Base: view.Base, Head: view.Head, Many: view.Many, MadeBy: view.MadeBy,
		Contents: template.HTML(h.part("contents", view)), Sections: template.HTML(h.part("sections", view)),
	}
	if h.err != nil {
		return nil, fmt.Errorf("write the report as parts of a page: %w", h.err)
	}
	return p, nil
}

// Stylesheet returns the CSS of a report's page, for light and dark themes, narrow and wide
// screens, and print.
func Stylesheet() string { return style }
