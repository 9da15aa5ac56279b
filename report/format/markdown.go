package format

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

const (
	// markdownText bounds a message, in runes: what is told of one finding must stay
	// small against what a comment holds.
	markdownText = 2000
)

// writeMarkdown writes the report for a comment or a summary on GitHub: what it comes
// to; what is new, the worst first and policy by policy; what could not be judged;
// and, folded, what was there before, remarks, and what got better. It has no
// durations, so that equal reports give equal text.
//
// Nothing of a repository is read as Markdown: it is in code spans and fences.
func writeMarkdown(w *bufio.Writer, r *report.Report, opts Options) error {
	m := &markdown{sheet: sheet{limit: opts.Limit}, opts: opts, compared: r.Change.Base != nil}
	m.head(r)
	m.reserve(m.foot(r), mostLeftOut)
	fresh, existing := m.entries(r)
	m.findings(fresh)
	if !opts.Quiet {
		m.unjudged(r.Indeterminate)
		m.rendered(r.Changes)
		m.existing(existing)
		m.remarks(r.Diagnostics)
		m.resolved(r.Findings)
	}
	m.end(m.leftOut())
	m.end(m.foot(r))
	_, err := w.WriteString(m.String())
	return err
}

// markdown writes a report onto a sheet.
type markdown struct {
	sheet
	opts Options
	// compared is set when there is a base.
	compared bool
}

// head is the title and the counts.
func (m *markdown) head(r *report.Report) {
	t := tallyOf(r.Findings)
	m.put(fmt.Sprintf("### %s preadmit: %s\n\n", sign(t, r), outcomeText(t, r, false)))
	detail := ""
	if m.compared && outcomeText(t, r, true) != outcomeText(t, r, false) {
		detail = outcomeText(t, r, true) + " in "
	}
	m.put(fmt.Sprintf("%s%s, %s, %s\n", detail, rootsText(r.Summary.Roots), count(r.Summary.Requests, "request"), policies(r.Summary.Policies)))
}

// foot says by what and of what the report was made.
func (m *markdown) foot(r *report.Report) string {
	return "\n<sub>" + codeSpan(clip(madeBy(r), 300)) + "</sub>\n"
}

// sign is the emoji for the worst that a change brings.
func sign(t tally, r *report.Report) string {
	left, _ := touched(r.Indeterminate)
	switch {
	case t[report.ActionDeny][report.StatusNew] > 0:
		return ":x:"
	case t.open(report.ActionDeny) > 0, t.open(report.ActionWarn) > 0, len(left) > 0:
		return ":warning:"
	case t.open(report.ActionAudit) > 0:
		return ":information_source:"
	}
	return ":white_check_mark:"
}

// entries are what is told of findings, the worst first: those of the change, and
// those that the base has too.
func (m *markdown) entries(r *report.Report) (fresh, existing []*entry) {
	all := entriesOf(r.Findings, m.opts)
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(weight(a.Finding), weight(b.Finding)) })
	for _, e := range all {
		if e.Status == report.StatusExisting && m.compared {
			existing = append(existing, e)
			continue
		}
		fresh = append(fresh, e)
	}
	return fresh, existing
}

// findings tells entries below a heading for each action and rule.
func (m *markdown) findings(entries []*entry) {
	for _, g := range groupByRule(entries) {
		heading := fmt.Sprintf("\n#### %s\n", g.title())
		for i, e := range g.entries {
			if m.full {
				m.leave("finding", 1+len(e.also))
				continue
			}
			text := m.entry(e)
			if i == 0 {
				text = heading + text
			}
			m.item(text, "finding", 1+len(e.also))
		}
	}
}

// ruleGroup is what one rule says with one action.
type ruleGroup struct {
	rule    string
	action  report.Action
	entries []*entry
}

// groupByRule groups entries that are in order of severity.
func groupByRule(entries []*entry) []*ruleGroup {
	type key struct {
		rule   string
		action report.Action
	}
	var out []*ruleGroup
	groups := map[key]*ruleGroup{}
	for _, e := range entries {
		k := key{ruleTitle(e.Finding), e.Action}
		if groups[k] == nil {
			groups[k] = &ruleGroup{rule: k.rule, action: k.action}
			out = append(out, groups[k])
		}
		groups[k].entries = append(groups[k].entries, e)
	}
	// Actions stay together even if a rule has entries of several weights.
	slices.SortStableFunc(out, func(a, b *ruleGroup) int { return cmp.Compare(strength(a.action), strength(b.action)) })
	return out
}

// ruleTitle is the policy that speaks, or what does in place of one, as Markdown.
func ruleTitle(f *report.Finding) string {
	words, name := ruleOf(f)
	if name != "" {
		words += " " + codeSpan(name)
	}
	return words
}

// ruleOf is what speaks, in words and with its name if it has one.
func ruleOf(f *report.Finding) (words, name string) {
	switch {
	case f.Cause == report.CauseRender:
		return "a root does not render", ""
	case f.Cause == report.CausePolicy:
		return "a policy or binding is refused", ""
	case f.Policy != "":
		return "policy", f.Policy
	}
	return "the API server itself", ""
}

func (g *ruleGroup) title() string { return g.lead() + g.rule }

// lead is what comes before the rule in a title.
func (g *ruleGroup) lead() string {
	switch g.entries[0].Cause {
	case report.CauseRender, report.CausePolicy:
		return actionWords(g.action) + ": "
	}
	return actionWords(g.action) + " by "
}

// actionWords is like "Denied".
func actionWords(a report.Action) string {
	switch a {
	case report.ActionDeny:
		return "Denied"
	case report.ActionWarn:
		return "Warned"
	}
	return "Noted for audit"
}

// entry is one finding: where, about what, the message, the lines, and the rest
// folded.
func (m *markdown) entry(e *entry) string {
	about := joinNonEmpty(" ", e.Operation, objectName(e.Object))
	line := m.place(&e.Location)
	if about != "" {
		line += " " + codeSpan(clip(about, 300))
	}
	if marks := m.marks(e.Finding); marks != "" {
		line += " " + marks
	}
	text := "\n" + line + "\n\n" + message(e.Message)
	if lines := excerptLines(&e.Location); len(lines) > 0 {
		text += "\n" + codeBlock("", lines)
	}
	return text + fold("Details", m.details(e))
}

// marks says what else a reader must know.
func (m *markdown) marks(f *report.Finding) string {
	var out []string
	if f.Location.Tree == "base" {
		out = append(out, "as it was at the base")
	}
	if f.Policies == report.PoliciesProposed {
		out = append(out, "by the proposed policies")
	}
	if note := generatedNote(f); note != "" {
		out = append(out, codeSpan(note))
	}
	if len(out) == 0 {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// place is path:line in bold, linked if it is known to what.
func (m *markdown) place(l *report.Location) string {
	name := cmp.Or(l.Path, "(no file)")
	if l.StartLine > 0 {
		name += fmt.Sprintf(":%d", l.StartLine)
	}
	text := codeSpan(clip(name, 300))
	if url := m.opts.link(l); url != "" {
		return "**[" + text + "](" + url + ")**"
	}
	return "**" + text + "**"
}

// link is the URL of a place; empty when it is not known.
func (o Options) link(l *report.Location) string {
	if o.Blob == "" || l.Path == "" || l.Tree == "base" || len(l.Path) > 1000 {
		return ""
	}
	url := o.Blob + relativeURI(l.Path)
	if l.StartLine > 0 {
		url += fmt.Sprintf("#L%d", l.StartLine)
	}
	return url
}

// message is what the API server says: a line as a quote, several in a fence.
func message(s string) string {
	lines := escapeLines(clip(s, markdownText))
	if len(lines) == 1 {
		return "> " + codeSpan(lines[0]) + "\n"
	}
	return codeBlock("text", lines)
}

// details are the lines of an entry that are folded.
func (m *markdown) details(e *entry) []string {
	p := &printer{opts: Options{Verbose: m.opts.Verbose}}
	requests, more := e.requests(m.opts.Verbose)
	out := slices.Clone(requests)
	if more > 0 {
		out = append(out, "and "+count(more, "more request"))
	}
	if e.Location.Field != "" {
		out = append(out, "field "+escape(e.Location.Field))
	}
	out = append(out, p.chain(e), decidedBy(e.Finding), causeNote(e.Finding))
	out = append(out, verboseDetails(e.Finding)...)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
