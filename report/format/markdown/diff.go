package markdown

import (
	"bufio"
	"fmt"
	"sort"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

const (
	// maxDiffLines is the maximum number of lines of one object's diff in a text with a
	// limit, so that there is room for other objects.
	maxDiffLines = 200
	// maxTitle is the maximum length of an object's title, in runes.
	maxTitle = 300
)

func WriteDiff(w *bufio.Writer, c *report.Comparison, opts Options) error {
	m := &writer{limitedText: limitedText{limit: opts.Limit}, opts: opts, compared: true}
	m.put("### " + outline.ChangesSummary(&c.Changes, c.Indeterminate) + "\n")
	m.reserve("", leftOutRunes)
	if !opts.Quiet {
		heading := "\n#### Not compared: the change touches these roots, and they do not render\n"
		for _, u := range outline.Reasons(c.Indeterminate) {
			m.item(heading+m.reason(u), "root that is not compared", u.Count())
			heading = ""
		}
	}
	m.changes(&c.Changes)
	if !opts.Quiet {
		m.remarks(c.Diagnostics)
	}
	m.end(m.leftOut())
	_, err := w.WriteString(m.String())
	return err
}

// rendered puts the rendered diff of a report, if it has one.
func (s *limitedText) rendered(c *report.Changes) {
	if c == nil || len(c.Objects)+c.LeftOut == 0 {
		return
	}
	heading := "\n#### Rendered diff: " + outline.ChangesSummary(c, nil) + "\n"
	if !s.fits(heading) {
		s.leave("changed object", len(c.Objects)+c.LeftOut)
		return
	}
	s.put(heading)
	s.changes(c)
}

// changes puts each object's diff, folded. The last one that fits may be cut after a line;
// the others are only counted.
func (s *limitedText) changes(c *report.Changes) {
	for i := range c.Objects {
		o := &c.Objects[i]
		lines := len(o.Diff)
		if s.limit > 0 {
			lines = min(lines, maxDiffLines)
		}
		if !s.fits(foldedChange(o, lines)) {
			lines = sort.Search(lines, func(n int) bool { return !s.fits(foldedChange(o, n+1)) })
		}
		s.item(foldedChange(o, lines), "changed object", 1)
	}
	if c.LeftOut > 0 {
		s.item(fmt.Sprintf("\n%s not listed.\n", outline.Count(c.LeftOut, "more changed object")), "changed object", c.LeftOut)
	}
}

// foldedChange returns the first lines of an object's diff, folded.
func foldedChange(o *report.ObjectChange, lines int) string {
	rest := *o
	rest.Cut += len(o.Diff) - lines
	text := fmt.Sprintf("\n<details><summary><code>%s</code> +%d -%d</summary>\n\n", escape.GuardHTML(escape.HTML(escape.Clip(changeTitleOf(o), maxTitle))), o.Added, o.Removed)
	if lines > 0 {
		text += escape.CodeBlock("diff", o.Diff[:lines])
	}
	if note := outline.ChangeNote(&rest); note != "" {
		text += "\n" + escape.CodeSpan("… "+note) + "\n"
	}
	return text + "\n</details>\n"
}

// changeTitleOf returns a title like "UPDATE Deployment shop/web, root overlays/prod".
func changeTitleOf(o *report.ObjectChange) string {
	return outline.Request(&report.Finding{Operation: o.Operation, Object: &o.Object, Root: o.Root})
}
