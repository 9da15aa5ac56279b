package html

import (
	"fmt"
	"html/template"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/mask"
)

// Parts are those of a report's page, for pages that show more than a report. All text
// is escaped as it is in the page, and the values of Secrets are masked. They need the
// style sheet of Stylesheet.
type Parts struct {
	// Class is the worst that the report has: deny, warn, audit or clean. It is the
	// class of what has its colour.
	Class string
	// Headline says in a few words what came out, Warning that no policy was in force, and
	// Counts what was looked at.
	Headline, Warning, Counts string
	// Hidden says what the sections do not list.
	Hidden string
	// Base and Head name what was compared; Base may be empty.
	Base, Head string
	// Contents is a nav element with links to the sections; empty when there are none.
	Contents template.HTML
	// Sections are the section elements, whose headings begin at h2: findings with
	// their sources, what was not judged, the rendered diff, remarks. Their ids begin
	// with findings, indeterminate, changes, existing, remarks, resolved, finding- and
	// change-.
	Sections template.HTML
	// Many is set for so many findings that their element should have the class many,
	// with which a browser does not lay out all of them at once.
	Many bool
	// MadeBy names the program that wrote the report.
	MadeBy string
}

// PartsOf returns the parts of the page that Write makes of a report as "html".
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

// Stylesheet is the CSS of a report's page: light and dark, narrow and wide, and print.
func Stylesheet() string { return style }
