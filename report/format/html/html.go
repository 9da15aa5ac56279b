package html

import (
	"bufio"
	"bytes"
	_ "embed" // the templates and the style sheet

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// How many bytes each part of a page may have. What has no room is counted.
// docs/report.md lists them.
const (
	findingsBytes = 10 << 20
	existingBytes = 4 << 20
	changesBytes  = 4 << 20
	listBytes     = 1 << 20
)

// manyEntries is more findings than a browser lays out in no time.
const manyEntries = 500

//go:embed html.tmpl
var templates string

//go:embed html.css
var style string

// Options steer how a report is written as HTML.
type Options struct {
	// Blob is the URL of the head's files, like https://github.com/o/r/blob/SHA/: when
	// it is set, places are links.
	Blob string
	// Verbose adds what the change does not touch.
	Verbose bool
	// Quiet leaves only denials and the summary.
	Quiet bool
}

// Write writes the report as one file that needs nothing else: no script, no
// font, no image. It has no durations, so that equal reports give equal pages.
//
// Whatever is of a repository passes escape, so that it can be seen, and then
// html/template, so that it is text. Even if both failed, the page's policy lets no
// script run and nothing be fetched.
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

// part executes a template of one part. A page may be printed to a log: no line of a
// part is a workflow command.
func (h *page) part(name string, view any) string {
	var b bytes.Buffer
	if err := h.templates.ExecuteTemplate(&b, name, view); err != nil && h.err == nil {
		h.err = err
	}
	return escape.GuardHTML(b.String())
}

// next is a number of its own for each part that can be linked to.
func (h *page) next() int {
	h.count++
	return h.count
}
