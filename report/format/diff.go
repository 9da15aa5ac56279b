package format

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// diffFormats are the formats of a comparison, in the order they are listed to users.
func diffFormats() []format[*report.Comparison] {
	return []format[*report.Comparison]{
		{"text", writeDiffText},
		{"json", writeDiffJSON},
		{"markdown", writeDiffMarkdown},
	}
}

// DiffFormats lists the names WriteDiff knows, in a fixed order.
func DiffFormats() []string { return names(diffFormats()) }

// WriteDiff writes a comparison in the named format. An unknown format is an error
// that lists the known ones.
func WriteDiff(w io.Writer, format string, c *report.Comparison, opts Options) error {
	return writeAs(w, diffFormats(), format, c, opts)
}

func writeDiffJSON(w *bufio.Writer, c *report.Comparison, _ Options) error {
	return EncodeJSON(w, c.Normalized())
}

// writeDiffText writes what diff -u would, with the object in place of the file.
func writeDiffText(w *bufio.Writer, c *report.Comparison, opts Options) error {
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
		p.block(nil, 2, plainStyle, changesSummary(&c.Changes, c.Indeterminate))
	}
	return p.err
}

// change writes the diff of one object.
func (p *printer) change(o *report.ObjectChange) {
	name := escape(o.Root) + ": " + objectName(&o.Object)
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
		p.line(span{diffLine(line), diffStyle(line)})
	}
	if note := changeNote(o); note != "" {
		p.line(span{"… " + note, dim})
	}
}

// uncompared lists the roots of which nothing can be said.
func (p *printer) uncompared(list []report.Indeterminate) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Not compared", yellow}, span{": the change touches these roots, and they do not render", plainStyle})
	for _, u := range reasonsOf(list) {
		p.line()
		p.unjudged(u)
	}
}

// changeNote says what of an object's diff is not shown; empty if all of it is.
func changeNote(o *report.ObjectChange) string {
	switch {
	case o.Omitted != "":
		return "no diff: " + escape(o.Omitted)
	case o.Cut > 0:
		return count(o.Cut, "more line")
	}
	return ""
}

// diffLine is a line of a diff, safe to show. Tabs stay: they harm nothing, and a
// difference of tabs and blanks would not be seen.
func diffLine(line string) string {
	parts := strings.Split(line, "\t")
	for i := range parts {
		parts[i] = escape(parts[i])
	}
	return strings.Join(parts, "\t")
}

// diffKind is what a line of a diff is by its first character; other lines than those
// of a unified diff are context.
func diffKind(line string) byte {
	if line == "" || !strings.ContainsRune("+-@", rune(line[0])) {
		return ' '
	}
	return line[0]
}

func diffStyle(line string) style {
	switch diffKind(line) {
	case '+':
		return "32"
	case '-':
		return "31"
	case '@':
		return "36"
	}
	return plainStyle
}

// changesSummary is like "2 objects differ in 1 root: 1 created, 1 updated; +12 -3
// lines".
func changesSummary(c *report.Changes, unknown []report.Indeterminate) string {
	text := "no object differs"
	if n := len(c.Objects) + c.LeftOut; n > 0 {
		text = fmt.Sprintf("%s in %s: %s", differ(n), count(len(changedRoots(c)), "root"), changesCount(c))
	}
	if n := len(unknown); n > 0 {
		text = strings.Replace(text, "no object differs", "no object is known to differ", 1)
		text += fmt.Sprintf("; %s not compared", count(n, "root"))
	}
	return text
}

func differ(n int) string {
	if n == 1 {
		return "1 object differs"
	}
	return fmt.Sprintf("%d objects differ", n)
}

// changesCount counts objects by operation, and lines.
func changesCount(c *report.Changes) string {
	var parts []string
	added, removed := 0, 0
	for _, op := range []struct{ name, word string }{{"CREATE", "created"}, {"UPDATE", "updated"}, {"DELETE", "deleted"}} {
		n := 0
		for i := range c.Objects {
			if c.Objects[i].Operation == op.name {
				n++
				added, removed = added+c.Objects[i].Added, removed+c.Objects[i].Removed
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, op.word))
		}
	}
	if c.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("%d not listed", c.LeftOut))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; +%d -%d lines", added, removed)
}

// changedRoots are the roots of changed objects, in order.
func changedRoots(c *report.Changes) []string {
	var roots []string
	for i := range c.Objects {
		roots = append(roots, c.Objects[i].Root)
	}
	return slices.Compact(roots)
}
