package format

import (
	"bufio"
	"fmt"
	"sort"

	"github.com/preadmit/preadmit/report"
)

const (
	// sheetDiffLines is the most lines of one object's diff on a sheet with a limit, so
	// that one object leaves room for others.
	sheetDiffLines = 200
	// changeTitle is the most of an object's title, in runes.
	changeTitle = 300
)

func writeDiffMarkdown(w *bufio.Writer, c *report.Comparison, opts Options) error {
	m := &markdown{sheet: sheet{limit: opts.Limit}, opts: opts, compared: true}
	m.put("### " + changesSummary(&c.Changes, c.Indeterminate) + "\n")
	m.reserve("", mostLeftOut)
	if !opts.Quiet {
		heading := "\n#### Not compared: the change touches these roots, and they do not render\n"
		for _, u := range reasonsOf(c.Indeterminate) {
			m.item(heading+m.reason(u), "root that is not compared", u.count())
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

// rendered puts the rendered diff of a report, if it has one: what a reader of the
// findings may want to see next.
func (s *sheet) rendered(c *report.Changes) {
	if c == nil || len(c.Objects)+c.LeftOut == 0 {
		return
	}
	heading := "\n#### Rendered diff: " + changesSummary(c, nil) + "\n"
	if !s.fits(heading) {
		s.leave("changed object", len(c.Objects)+c.LeftOut)
		return
	}
	s.put(heading)
	s.changes(c)
}

// changes puts each object's diff, folded. The last that finds room is cut at a line;
// the others are counted.
func (s *sheet) changes(c *report.Changes) {
	for i := range c.Objects {
		o := &c.Objects[i]
		lines := len(o.Diff)
		if s.limit > 0 {
			lines = min(lines, sheetDiffLines)
		}
		if !s.fits(foldedChange(o, lines)) {
			lines = sort.Search(lines, func(n int) bool { return !s.fits(foldedChange(o, n+1)) })
		}
		s.item(foldedChange(o, lines), "changed object", 1)
	}
	if c.LeftOut > 0 {
		s.item(fmt.Sprintf("\n%s not listed.\n", count(c.LeftOut, "more changed object")), "changed object", c.LeftOut)
	}
}

// foldedChange is an object's diff with its first lines only.
func foldedChange(o *report.ObjectChange, lines int) string {
	rest := *o
	rest.Cut += len(o.Diff) - lines
	text := fmt.Sprintf("\n<details><summary><code>%s</code> +%d -%d</summary>\n\n", guardHTML(htmlText(clip(changeTitleOf(o), changeTitle))), o.Added, o.Removed)
	if lines > 0 {
		text += codeBlock("diff", o.Diff[:lines])
	}
	if note := changeNote(&rest); note != "" {
		text += "\n" + codeSpan("… "+note) + "\n"
	}
	return text + "\n</details>\n"
}

// changeTitleOf is like "UPDATE Deployment shop/web, root overlays/prod".
func changeTitleOf(o *report.ObjectChange) string {
	return requestOf(&report.Finding{Operation: o.Operation, Object: &o.Object, Root: o.Root})
}
