package markdown

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/excerpt"
	"github.com/preadmit/preadmit/report/format/outline"
)

// Options configures how a report is written as Markdown.
type Options struct {
	// Limit is the maximum length in characters (Unicode code points); 0 is no limit.
	// Parts that do not fit are left out completely, the least severe first, and counted.
	Limit int
	// Blob is the URL of the head's files, like https://github.com/o/r/blob/SHA/: when
	// it is set, places are links.
	Blob string
	// Verbose adds every request and place, and what the change does not touch.
	Verbose bool
	// Quiet leaves only denials and the summary.
	Quiet bool
	// Existing lists the findings that the base has too, instead of their number only.
	Existing bool
}

// Write writes the report for a comment or a summary on GitHub: the counts; new findings,
// the worst first and by policy; what could not be judged; and, folded, remarks, resolved
// findings and, with opts.Existing, existing findings. It has no durations, so that equal
// reports give equal text.
//
// Text of a repository is put in code spans and fences, so that it is not read as Markdown.
func Write(w *bufio.Writer, r *report.Report, opts Options) error {
	m := &writer{limitedText: limitedText{limit: opts.Limit}, opts: opts, compared: r.Change.Base != nil}
	m.head(r)
	m.reserve(m.foot(r), leftOutRunes)
	fresh, existing := outline.SplitEntries(r, opts.Quiet)
	m.findings(fresh)
	if !opts.Quiet {
		m.unjudged(r.Indeterminate)
		m.charts(r)
		m.rendered(r.Changes)
		if opts.Existing {
			m.existing(existing)
		}
		m.remarks(r.Diagnostics)
		m.resolved(r.Findings)
		m.hidden(r)
	}
	m.end(m.leftOut())
	m.end(m.foot(r))
	_, err := w.WriteString(m.String())
	return err
}

// writer writes a report.
type writer struct {
	limitedText
	opts Options
	// compared is set when there is a base.
	compared bool
}

// head puts the title and the counts.
func (m *writer) head(r *report.Report) {
	c := outline.CountsOf(r, m.opts.Existing)
	m.put(fmt.Sprintf("### %s preadmit: %s\n\n", sign(c), c.Headline()))
	if none := outline.NoPolicies(r); none != "" {
		m.put(escape.Quote(none) + "\n")
	}
	m.put(outline.Scope(&r.Summary) + "\n")
	if hooks := outline.Webhooks(r); hooks != "" {
		m.put("\n" + escape.Quote(hooks) + "\n")
	}
}

// foot returns a line with the tool and the revisions of the report.
func (m *writer) foot(r *report.Report) string {
	return "\n<sub>" + escape.CodeSpan(escape.Clip(outline.MadeBy(r), 300)) + "</sub>\n"
}

// sign returns the emoji for the worst class.
func sign(c outline.Counts) string {
	switch worst := c.Worst(); {
	case worst == "":
		return ":white_check_mark:"
	case worst.Denies():
		return ":x:"
	case worst == outline.Warning:
		return ":warning:"
	}
	return ":information_source:"
}

// findings puts entries below a heading for each class and rule.
func (m *writer) findings(entries []*outline.Entry) {
	for _, g := range outline.GroupByRule(outline.Gather(entries)) {
		heading := fmt.Sprintf("\n#### %s\n", ruleTitle(g))
		for i, e := range g.Entries {
			if m.full {
				m.leave("finding", e.Count())
				continue
			}
			text := m.entry(e)
			if i == 0 {
				text = heading + text
			}
			m.item(text, "finding", e.Count())
		}
	}
}

// ruleTitle returns the heading of a group.
func ruleTitle(g *outline.RuleGroup) string {
	title := g.Lead() + g.Words
	if g.Name != "" {
		title += " " + escape.CodeSpan(g.Name)
	}
	return title
}

// entry returns the text of an entry: its place and object, the message, the source lines,
// and the details, folded.
func (m *writer) entry(e *outline.Entry) string {
	about := outline.Join(" ", e.Operation, outline.ObjectName(e.Object))
	line := m.place(&e.Location)
	if about != "" {
		line += " " + escape.CodeSpan(escape.Clip(about, 300))
	}
	if marks := m.marks(e.Finding); marks != "" {
		line += " " + marks
	}
	text := "\n" + line + "\n\n" + escape.Quote(e.Message)
	if lines := excerpt.Lines(&e.Location); len(lines) > 0 {
		text += "\n" + escape.CodeBlock("", lines)
	}
	return text + m.elsewhere(e) + fold("Details", m.details(e))
}

// elsewhere returns the other places with the same finding.
func (m *writer) elsewhere(e *outline.Entry) string {
	if len(e.Elsewhere) == 0 {
		return ""
	}
	text := "\nThe same at\n\n"
	for i, other := range e.Elsewhere {
		if i == maxPlaces && len(e.Elsewhere) > maxPlaces+1 {
			return text + "- and " + outline.Count(len(e.Elsewhere)-i, "more place") + "\n"
		}
		text += "- " + m.place(&other.Location) + " " + escape.CodeSpan(escape.Clip(outline.Request(other.Finding), 300)) + "\n"
	}
	return text
}

// marks returns remarks to show next to the place of a finding.
func (m *writer) marks(f *report.Finding) string {
	var out []string
	if f.Location.Tree == "base" {
		out = append(out, "as it was at the base")
	}
	if f.Policies == report.PoliciesProposed {
		out = append(out, "by the proposed policies")
	}
	if note := outline.GeneratedNote(f); note != "" {
		out = append(out, escape.CodeSpan(note))
	}
	if len(out) == 0 {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// place returns path:line in bold, with a link if its URL is known.
func (m *writer) place(l *report.Location) string {
	name := cmp.Or(l.Path, "(no file)")
	if l.StartLine > 0 {
		name += fmt.Sprintf(":%d", l.StartLine)
	}
	text := escape.CodeSpan(escape.Clip(name, 300))
	if url := outline.Link(m.opts.Blob, l); url != "" {
		return "**[" + text + "](" + url + ")**"
	}
	return "**" + text + "**"
}

// details returns the folded lines of an entry.
func (m *writer) details(e *outline.Entry) []string {
	requests, more := e.Requests(m.opts.Verbose)
	out := slices.Clone(requests)
	if more > 0 {
		out = append(out, "and "+outline.Count(more, "more request"))
	}
	if e.Location.Field != "" {
		out = append(out, "field "+escape.Text(e.Location.Field))
	}
	out = append(out, e.Places(m.opts.Verbose)...)
	out = append(out, e.Chain(m.opts.Verbose), outline.DecidedBy(e.Finding), outline.CauseNote(e.Finding), outline.WithKubernetes(e.Finding))
	out = append(out, outline.VerboseDetails(e.Finding)...)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
