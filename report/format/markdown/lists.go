package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// maxPlaces is the maximum number of further places listed for one finding.
const maxPlaces = 10

// unjudged puts what could not be judged, by reason, each with one example.
func (m *writer) unjudged(list []report.Indeterminate) {
	left := list
	if !m.opts.Verbose && !m.opts.Existing {
		left, _ = outline.Touched(list)
	}
	heading := "\n#### Not judged, so not known to be allowed\n"
	for _, u := range outline.Reasons(left) {
		m.item(heading+m.reason(u), "unjudged place", u.Count())
		heading = ""
	}
}

func (m *writer) reason(u *outline.Reason) string {
	text := "\n" + escape.Quote(u.Why) + "\n"
	for i, pl := range u.Places {
		if i == 1 && !m.opts.Verbose {
			return text + "- and " + outline.Count(len(u.Places)-i, "more place") + "\n"
		}
		text += "- " + escape.CodeSpan(escape.Clip(pl.Text(m.opts.Verbose), 500)) + "\n"
	}
	return text
}

// charts puts the changes by new versions of charts.
func (m *writer) charts(r *report.Report) {
	heading := "\n#### New versions of charts\n\n"
	for _, c := range outline.Charts(r) {
		text := "- " + m.place(&c.Location) + " " + escape.CodeSpan(escape.Clip(c.Title, 500)) + ": " + escape.CodeSpan(escape.Clip(c.Changes, 1000))
		if c.Unread {
			text += "; " + outline.ChartUnread
		}
		m.item(heading+text+"\n", "chart", 1)
		heading = ""
	}
}

// existing puts the findings that the base has too, which the change did not cause.
func (m *writer) existing(entries []*outline.Entry) {
	var lines []listItem
	n := 0
	for _, e := range entries {
		n += 1 + len(e.Also)
		lines = append(lines, listItem{m.brief(e.Finding), 1 + len(e.Also)})
	}
	m.folded(outline.Count(n, "finding")+" that the base has too", "existing finding", lines)
}

// remarks puts the diagnostics.
func (m *writer) remarks(list []report.Diagnostic) {
	var lines []listItem
	remarks := slices.DeleteFunc(outline.Remarks(list), func(r *outline.Remark) bool { return r.Untouched && !m.opts.Verbose && !m.opts.Existing })
	if !m.opts.Verbose {
		remarks = outline.Notes(remarks)
	}
	for _, r := range remarks {
		text := "**" + outline.SeverityWord(r.Severity) + "** "
		if r.Location != nil {
			text += m.place(r.Location) + r.AndOthers() + " "
		} else if r.Root != "" {
			text += "root " + escape.CodeSpan(escape.Clip(r.Root, 300)) + r.AndOthers() + " "
		}
		lines = append(lines, listItem{text + escape.CodeSpan(outline.FirstLine(r.Message)), 1})
	}
	m.folded(outline.Count(len(remarks), "remark"), "remark", lines)
}

// resolved puts the findings that the change resolves.
func (m *writer) resolved(findings []report.Finding) {
	var lines []listItem
	for i := range findings {
		if f := &findings[i]; f.Status == report.StatusResolved {
			lines = append(lines, listItem{m.brief(f), 1})
		}
	}
	m.folded(fmt.Sprintf("%d resolved", len(lines)), "resolved finding", lines)
}

// hidden puts a line on what is not listed.
func (m *writer) hidden(r *report.Report) {
	if text := outline.Hidden(r, m.opts.Existing, m.opts.Verbose); text != "" {
		m.put("\nNot listed: " + text + ".\n")
	}
}

// brief returns a finding in one line.
func (m *writer) brief(f *report.Finding) string {
	text := outline.ClassOf(f).Title() + " " + m.place(&f.Location) + " "
	if f.Policy != "" {
		text += "by " + escape.CodeSpan(escape.Clip(f.Policy, 300)) + " "
	}
	return text + escape.CodeSpan(outline.FirstLine(f.Message))
}

// listItem is a line of a list that stands for n items.
type listItem struct {
	text string
	n    int
}

// folded puts a list that is shown on demand, as far as it fits.
func (m *writer) folded(summary, noun string, lines []listItem) {
	if len(lines) == 0 {
		return
	}
	open, closing := "\n<details><summary>"+escape.HTML(summary)+"</summary>\n\n", "\n</details>\n"
	if !m.fits(open + "- " + lines[0].text + "\n" + closing) {
		for _, l := range lines {
			m.leave(noun, l.n)
		}
		return
	}
	m.put(open)
	m.reserve(closing, 0)
	for _, l := range lines {
		m.item("- "+l.text+"\n", noun, l.n)
	}
	m.end(closing)
}

// detailRunes bounds a line of details.
const detailRunes = 2000

// fold returns lines that are shown on demand, each as code.
func fold(summary string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n<details><summary>" + escape.HTML(summary) + "</summary>\n\n")
	for _, l := range lines {
		b.WriteString("- " + escape.CodeSpan(escape.Clip(l, detailRunes)) + "\n")
	}
	b.WriteString("\n</details>\n")
	return b.String()
}
