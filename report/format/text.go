package format

import (
	"bufio"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// writeText writes the report for people, in the order they want to know: what is
// wrong, file by file; what could not be judged; remarks; what got better; and one
// line that sums it up.
func writeText(w *bufio.Writer, r *report.Report, opts Options) error {
	p := &printer{w: w, opts: opts, width: clampWidth(opts.Width), compared: r.Change.Base != nil}
	for _, f := range groupByFile(r.Findings, opts) {
		p.file(f)
	}
	if !opts.Quiet {
		p.indeterminate(r.Indeterminate)
		p.diagnostics(r.Diagnostics)
		p.resolved(r.Findings)
	}
	p.summary(r)
	return p.err
}

func clampWidth(w int) int {
	if w <= 0 {
		return 80
	}
	return min(max(w, 40), 120)
}

// printer writes lines of text. All that it is given is escaped already.
type printer struct {
	w     *bufio.Writer
	opts  Options
	width int
	// compared is set when there is a base, so that findings have a status worth
	// telling.
	compared bool
	// begun is set once something was written, so that a section knows to leave a
	// blank line.
	begun bool
	err   error
}

// line writes one line. Spans carry the colours; the text of the line as a whole
// is guarded against workflow commands.
func (p *printer) line(spans ...span) {
	p.begun = true
	spans = trimEnd(spans)
	unguarded := bare(spans)
	text := guardLine(unguarded)
	if p.opts.Color && text == unguarded {
		text = paint(spans)
	}
	if _, err := p.w.WriteString(text + "\n"); err != nil {
		p.err = err
	}
}

// block writes text wrapped with a hanging indent; lead stands before it on the
// first line.
func (p *printer) block(lead []span, hang int, style style, text string) {
	used := 0
	for _, s := range lead {
		used += displayWidth(s.text)
	}
	for i, l := range wrap(text, p.width, used, hang) {
		if i == 0 {
			p.line(append(slices.Clone(lead), span{l, style})...)
			continue
		}
		p.line(blanks(hang), span{l, style})
	}
}

// heading starts a section.
func (p *printer) heading(spans ...span) {
	if p.begun {
		p.line()
	}
	p.line(spans...)
}

// fileGroup is what is said about one file.
type fileGroup struct {
	path, tree string
	entries    []*entry
}

// entry is one remark and all the requests it was made on: a manifest that twelve
// overlays share is shown once.
type entry struct {
	*report.Finding
	also []*report.Finding
}

// entryKey is what findings shown as one entry have in common.
type entryKey struct {
	tree, path, message, policy, binding, field string
	generated                                   string
	status                                      report.Status
	action                                      report.Action
	cause                                       report.Cause
	policies                                    report.PolicySet
	startLine, startColumn, validation          int
	param                                       report.ParamRef
}

func keyOf(f *report.Finding) entryKey {
	k := entryKey{
		tree: f.Location.Tree, path: f.Location.Path, message: f.Message, policy: f.Policy,
		binding: f.Binding, field: f.Location.Field, status: f.Status, action: f.Action,
		cause: f.Cause, policies: f.Policies, startLine: f.Location.StartLine,
		startColumn: f.Location.StartColumn, validation: -1,
	}
	if f.Validation != nil {
		k.validation = *f.Validation
	}
	if f.Param != nil {
		k.param = *f.Param
	}
	if f.Generated != nil {
		k.generated = f.Generated.Kind
	}
	return k
}

// groupByFile groups the findings to be shown in full, in the report's order.
func groupByFile(findings []report.Finding, opts Options) []*fileGroup {
	type file struct{ tree, path string }
	var out []*fileGroup
	files := map[file]*fileGroup{}
	for _, e := range entriesOf(findings, opts) {
		at := file{e.Location.Tree, e.Location.Path}
		g := files[at]
		if g == nil {
			g = &fileGroup{path: e.Location.Path, tree: e.Location.Tree}
			files[at], out = g, append(out, g)
		}
		g.entries = append(g.entries, e)
	}
	return out
}

// entriesOf merges the findings to be shown in full, in the report's order.
func entriesOf(findings []report.Finding, opts Options) []*entry {
	var out []*entry
	entries := map[entryKey]*entry{}
	for i := range findings {
		f := &findings[i]
		if f.Status == report.StatusResolved || opts.Quiet && f.Action != report.ActionDeny {
			continue
		}
		key := keyOf(f)
		if e := entries[key]; e != nil {
			e.also = append(e.also, f)
			continue
		}
		entries[key] = &entry{Finding: f}
		out = append(out, entries[key])
	}
	return out
}

// file writes a file's name and its entries.
func (p *printer) file(g *fileGroup) {
	name := []span{{cmp.Or(escape(g.path), "(no file)"), bold}}
	if g.tree == "base" {
		name = append(name, span{" (as it was at the base)", dim})
	}
	p.heading(name...)
	var places []*report.Location
	for _, e := range g.entries {
		places = append(places, &e.Location)
	}
	margin := marginOf(places)
	var last *report.Location
	for i, e := range g.entries {
		if i > 0 {
			p.line()
		}
		p.entry(e, margin, last)
		last = &e.Location
	}
}

// marginOf is the width of the column left of entries that are at these places.
func marginOf(places []*report.Location) int {
	margin := 0
	for _, l := range places {
		margin = max(margin, len(position(l)), len(strconv.Itoa(l.SnippetLine+len(l.Snippet))))
	}
	return 2 + margin
}

// entry writes one finding.
func (p *printer) entry(e *entry, margin int, last *report.Location) {
	emphasis := bold
	if e.Status == report.StatusExisting && p.compared {
		emphasis = plainStyle
	}
	p.item(&e.Location, margin, last, item{
		word: string(e.Action), mark: actionStyle(e.Action), aside: p.marks(e.Finding), emphasis: emphasis, message: e.Message,
		details: func(labelled bool) []string { return p.details(e, labelled) },
	})
}

// item is what is said of a place.
type item struct {
	// word says how bad it is, in the style mark.
	word string
	mark style
	// aside follows the word; emphasis is the style of it and of the message.
	aside    string
	emphasis style
	message  string
	// details are lines below; labelled tells that the field's name was shown.
	details func(labelled bool) []string
}

// item writes a title, excerpt and details. The title's text, the rule of the excerpt
// and the details share a column, one past the margin.
func (p *printer) item(l *report.Location, margin int, last *report.Location, it item) {
	lead := []span{{padLeft(position(l), margin) + " ", dim}, {escape(it.word), it.mark}, {it.aside + ": ", it.emphasis}}
	p.message(lead, margin+1, it.emphasis, it.message)
	labelled := false
	if last == nil || !sameExcerpt(last, l) {
		labelled = p.excerpt(l, margin, it.mark)
	}
	for _, d := range it.details(labelled) {
		p.block([]span{blanks(margin + 1), {"= ", gutter}}, margin+3, plainStyle, d)
	}
}

// message writes a message that may have several lines. The ones after the first
// are kept as they are, as compilers draw with them, below an indent of their own.
func (p *printer) message(lead []span, hang int, style style, message string) {
	const most = 20
	lines := escapeLines(message)
	p.block(lead, hang, style, lines[0])
	for i, l := range lines[1:] {
		if i == most && !p.opts.Verbose {
			p.line(blanks(hang+2), span{"… " + count(len(lines)-1-most, "more line"), dim})
			return
		}
		p.line(blanks(hang+2), span{l, plainStyle})
	}
}

// marks says what else the title must: the status where there is a base, and
// policies that are not in force yet.
func (p *printer) marks(f *report.Finding) string {
	var m []string
	if p.compared {
		m = append(m, escape(string(f.Status)))
	}
	if f.Policies == report.PoliciesProposed {
		m = append(m, "proposed policies")
	}
	if len(m) == 0 {
		return ""
	}
	return " (" + strings.Join(m, ", ") + ")"
}

// position is line:column as far as known.
func position(l *report.Location) string {
	switch {
	case l.StartLine == 0:
		return "-"
	case l.StartColumn == 0:
		return strconv.Itoa(l.StartLine)
	}
	return strconv.Itoa(l.StartLine) + ":" + strconv.Itoa(l.StartColumn)
}
