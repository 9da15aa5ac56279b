package text

import (
	"bufio"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// WriteDiff writes a comparison like diff -u, with objects in place of files.
func WriteDiff(w *bufio.Writer, c *report.Comparison, opts Options) error {
	p := &printer{w: w, opts: opts, width: clampWidth(opts.Width)}
	for i := range c.Changes.Objects {
		p.change(&c.Changes.Objects[i])
	}
	if !opts.Quiet {
		p.uncompared(c.Indeterminate)
		p.diagnostics(c.Diagnostics)
	}
	if p.begun && !opts.Quiet {
		p.line()
	}
	if !opts.Quiet {
		p.block(nil, 2, plainStyle, outline.ChangesSummary(&c.Changes, c.Indeterminate))
	}
	return p.err
}

// change writes the diff of one object.
func (p *printer) change(o *report.ObjectChange) {
	name := escape.Text(o.Root) + ": " + outline.ObjectName(&o.Object)
	before, after := name+" (base)", name+" (head)"
	switch o.Operation {
	case "CREATE":
		before = "/dev/null"
	case "DELETE":
		after = "/dev/null"
	}
	p.line(span{"--- " + before, bold})
	p.line(span{"+++ " + after, bold})
	for _, line := range o.Diff {
		p.line(span{outline.DiffLine(line), diffStyle(line)})
	}
	if note := outline.ChangeNote(o); note != "" {
		p.line(span{"… " + note, dim})
	}
}

// uncompared writes the roots that could not be compared.
func (p *printer) uncompared(list []report.Indeterminate) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Not compared", yellow}, span{": the change touches these roots, and they do not render", plainStyle})
	for _, u := range outline.Reasons(list) {
		p.line()
		p.unjudged(u)
	}
}

func diffStyle(line string) style {
	switch outline.DiffKind(line) {
	case '+':
		return "32"
	case '-':
		return "31"
	case '@':
		return "36"
	}
	return plainStyle
}
