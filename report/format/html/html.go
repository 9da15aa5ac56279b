package html

import (
	"bufio"
	"bytes"
	_ "embed" // the templates and the style sheet

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Limits for the parts of a page, in bytes. Content over a limit is only counted.
// docs/report.md lists the limits.
const (
	findingsBytes = 10 << 20
	existingBytes = 4 << 20
	changesBytes  = 4 << 20
	listBytes     = 1 << 20
)

// manyEntries is the number of findings above which a page counts as large: a browser needs
// a noticeable time to lay it out.
const manyEntries = 500

//go:embed html.tmpl
var templates string

//go:embed html.css
var style string

// Options configures how a report is written as HTML.
type Options struct {
	// Blob is the URL of the head's files, like https://github.com/o/r/blob/SHA/: when
	// it is set, places are links.
	Blob string
	// Verbose adds what the change does not touch.
	Verbose bool
	// Quiet leaves only denials and the summary.
	Quiet bool
}

// Write writes the report as one self-contained file: no script, no font, no image. It
// has no durations, so that equal reports give equal pages.
//
// Text of a repository passes through package escape, which makes all characters visible,
// and then through html/template, which escapes markup. Even if both failed, the page's
// content security policy would block scripts and requests.
func Write(w *bufio.Writer, r *report.Report, opts Options) error {
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

// part executes the template of one part. It guards lines against workflow commands, since
// a page may be printed to a log.
func (h *page) part(name string, view any) string {
	var b bytes.Buffer
	if err := h.templates.ExecuteTemplate(&b, name, view); err != nil && h.err == nil {
		h.err = err
	}
	return escape.GuardHTML(b.String())
}

// next returns a new number, for the ID of a part that can be linked to.
func (h *page) next() int {
	h.count++
	return h.count
}
