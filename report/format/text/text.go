package text

import (
	"bufio"
	"cmp"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/excerpt"
	"github.com/preadmit/preadmit/report/format/outline"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// Options configures how a report is written as text. The zero value is for a pipe: no
// colour, 80 columns.
type Options struct {
	// Color marks actions, places and excerpts with ANSI colours.
	Color bool
	// Width is the number of columns to wrap at. 0 means 80. It is limited to between 40
	// and 120.
	Width int
	// Verbose adds expressions, reasons, related locations, all places of a repeated
	// finding, and durations.
	Verbose bool
	// Quiet leaves only denials and the summary.
	Quiet bool
	// Existing shows findings that the base has too like new ones.
	Existing bool
	// By are the keys of totals to show instead of the findings, see outline.TotalsBy.
	By []string
}

// Write writes a report of a scan, in the order of interest to readers: findings by file;
// what could not be judged; new versions of charts; remarks; resolved findings; and a
// summary in one line.
func Write(w *bufio.Writer, r *report.Report, opts Options) error {
	p := &printer{w: w, opts: opts, width: clampWidth(opts.Width), compared: r.Change.Base != nil}
	open := outline.Open(r.Findings, p.existing())
	if !opts.Verbose && !opts.Quiet {
		_, p.before = outline.NoBetterBefore(r.Indeterminate, open)
	}
	if len(opts.By) > 0 {
		p.totals(open)
	} else {
		for _, f := range groupByFile(open, opts.Quiet) {
			p.file(f)
		}
	}
	if !opts.Quiet && len(opts.By) == 0 {
		p.indeterminate(r.Indeterminate, open)
		p.charts(r)
		p.diagnostics(r.Diagnostics)
		p.resolved(r.Findings)
		p.requests(r.Requests)
	}
	p.hidden(r)
	p.summary(r)
	return p.err
}

// file writes a file's name and its entries.
func (p *printer) file(g *fileGroup) {
	name := []span{{cmp.Or(escape.Text(g.path), "(no file)"), bold}}
	if g.tree == "base" {
		name = append(name, span{" (as it was at the base)", dim})
	}
	p.heading(name...)
	var places []*report.Location
	for _, e := range g.entries {
		places = append(places, &e.Location)
	}
	margin := excerpt.Margin(places)
	var last *report.Location
	for i, e := range g.entries {
		if i > 0 {
			p.line()
		}
		p.entry(e, margin, last)
		last = &e.Location
	}
}

// entry writes one finding.
func (p *printer) entry(e *outline.Entry, margin int, last *report.Location) {
	emphasis := bold
	if e.Status == report.StatusExisting && p.compared {
		emphasis = plainStyle
	}
	p.item(&e.Location, margin, last, item{
		word: string(outline.ClassOf(e.Finding)), mark: classStyle(outline.ClassOf(e.Finding)), aside: p.marks(e.Finding), emphasis: emphasis, message: e.Message,
		details: func(labelled bool) []string {
			details := e.Details(labelled, p.opts.Verbose)
			if n := p.before[outline.Place(&e.Location)]; n > 0 && e.Cause == report.CauseRender {
				details = append(details, outline.Count(n, "more root")+" did not render before the change either: not judged")
			}
			return details
		},
	})
}

// item is the content to write for a place.
type item struct {
	// word is the class or severity, written in the style mark.
	word string
	mark style
	// aside follows the word. emphasis is the style of aside and message.
	aside    string
	emphasis style
	message  string
	// details returns the lines below; labelled is set when the field's name was shown.
	details func(labelled bool) []string
}

// item writes a title, excerpt and details. The title's text, the vertical line of the
// excerpt and the details start in the same column, one after the margin. last is the
// location of the previous item: the same excerpt is not written twice.
func (p *printer) item(l *report.Location, margin int, last *report.Location, it item) {
	lead := []span{{terminal.PadLeft(outline.Position(l), margin) + " ", dim}, {escape.Text(it.word), it.mark}, {it.aside + ": ", it.emphasis}}
	var lines []excerpt.Line
	if last == nil || !excerpt.Same(last, l) {
		lines = excerpt.Draw(l, p.width-margin-3)
	}
	labelled := p.excerpt(lines, p.message(lead, margin+1, it.emphasis, it.message, lines), margin, it.mark)
	for _, d := range it.details(labelled) {
		p.block([]span{blanks(margin + 1), {"= ", gutter}}, margin+3, plainStyle, d)
	}
}

// message writes a message that may have several lines. It wraps the first line only and
// indents the others, since compilers use them to show source lines. The marks below a source
// line that the excerpt in also has are returned, by line number, to be written there.
func (p *printer) message(lead []span, hang int, style style, message string, in []excerpt.Line) (marks map[int]string) {
	const most = 20
	lines, at := mergeErrors(escape.Lines(message))
	p.block(lead, hang, style, lines[0])
	written := 0
	write := func(line string) {
		if written++; written <= most || p.opts.Verbose {
			p.line(blanks(hang+2), span{line, plainStyle})
		}
	}
	marks = map[int]string{}
	for i, l := range lines[1:] {
		d, ok := at[i+1]
		if !ok {
			write(l)
			continue
		}
		if number, offset, ok := d.shownIn(in); ok && marks[number] == "" {
			marks[number] = strings.Repeat(" ", offset) + d.marks
			continue
		}
		write(" | " + d.source)
		write(" | " + d.marks)
	}
	if written > most && !p.opts.Verbose {
		p.line(blanks(hang+2), span{"… " + outline.Count(written-most, "more line"), dim})
	}
	return marks
}

// existing reports whether findings that the base has too are shown like new ones.
func (p *printer) existing() bool { return p.opts.Existing }

// marks returns the remarks in the title: that the base has the finding too, or that the
// policies are only proposed.
func (p *printer) marks(f *report.Finding) string {
	var m []string
	if p.compared && f.Status == report.StatusExisting {
		m = append(m, escape.Text(string(f.Status)))
	}
	if f.Policies == report.PoliciesProposed {
		m = append(m, "proposed policies")
	}
	if len(m) == 0 {
		return ""
	}
	return " (" + strings.Join(m, ", ") + ")"
}
