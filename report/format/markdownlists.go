package format

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// mostMarkdownPlaces is the number of places listed below one reason.
const mostMarkdownPlaces = 10

// unjudged lists what could not be judged, reason by reason; what the change does not
// touch is counted.
func (m *markdown) unjudged(list []report.Indeterminate) {
	left, untouched := list, 0
	if !m.opts.Verbose {
		left, untouched = touched(list)
	}
	heading := "\n#### Not judged, so not known to be allowed\n"
	for _, u := range reasonsOf(left) {
		m.item(heading+m.reason(u), "unjudged place", u.count())
		heading = ""
	}
	if untouched > 0 {
		m.item(fmt.Sprintf("%s\n%d indeterminate that the change does not touch.\n", heading, untouched), "unjudged place", untouched)
	}
}

func (m *markdown) reason(u *unjudged) string {
	p := &printer{opts: m.opts}
	text := "\n" + message(u.why) + "\n"
	for i, pl := range u.places {
		if i == mostMarkdownPlaces && len(u.places) > mostMarkdownPlaces+1 {
			return text + "- and " + count(len(u.places)-i, "more place") + "\n"
		}
		text += "- " + codeSpan(clip(p.subject(pl), 500)) + "\n"
	}
	return text
}

// existing tells what the base has too, in a list: the change is not to blame.
func (m *markdown) existing(entries []*entry) {
	var lines []told
	n := 0
	for _, e := range entries {
		n += 1 + len(e.also)
		lines = append(lines, told{m.brief(e.Finding), 1 + len(e.also)})
	}
	m.folded(count(n, "finding")+" that the base has too", "existing finding", lines)
}

// remarks lists what is no verdict.
func (m *markdown) remarks(list []report.Diagnostic) {
	var lines []told
	remarks := remarksOf(list)
	for _, r := range remarks {
		text := "**" + severityWord(r.Severity) + "** "
		if r.Location != nil {
			text += m.place(r.Location) + " "
		} else if r.Root != "" {
			text += "root " + codeSpan(clip(r.Root, 300)) + " "
		}
		lines = append(lines, told{text + codeSpan(firstLine(r.Message)), 1})
	}
	m.folded(count(len(remarks), "remark"), "remark", lines)
}

// severityWord is that of a diagnostic, or what says that it is none.
func severityWord(s string) string {
	switch s {
	case "error", "warning", "note":
		return s
	}
	return "remark"
}

// resolved lists what the change makes better.
func (m *markdown) resolved(findings []report.Finding) {
	var lines []told
	for i := range findings {
		if f := &findings[i]; f.Status == report.StatusResolved {
			lines = append(lines, told{m.brief(f), 1})
		}
	}
	m.folded(fmt.Sprintf("%d resolved by this change", len(lines)), "resolved finding", lines)
}

// brief is a finding in one line.
func (m *markdown) brief(f *report.Finding) string {
	text := actionWords(f.Action) + " " + m.place(&f.Location) + " "
	if f.Policy != "" {
		text += "by " + codeSpan(clip(f.Policy, 300)) + " "
	}
	return text + codeSpan(firstLine(f.Message))
}

// firstLine is the first line of a message.
func firstLine(s string) string { return clip(escapeLines(s)[0], markdownText) }

// told is a line of a list, and how many it stands for.
type told struct {
	text string
	n    int
}

// folded puts a list that is shown on demand, as far as there is room.
func (m *markdown) folded(summary, noun string, lines []told) {
	if len(lines) == 0 {
		return
	}
	open, closing := "\n<details><summary>"+htmlText(summary)+"</summary>\n\n", "\n</details>\n"
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

// fold is lines that are shown on demand, each as code.
func fold(summary string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n<details><summary>" + htmlText(summary) + "</summary>\n\n")
	for _, l := range lines {
		b.WriteString("- " + codeSpan(clip(l, markdownText)) + "\n")
	}
	b.WriteString("\n</details>\n")
	return b.String()
}
