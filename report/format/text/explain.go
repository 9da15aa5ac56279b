package text

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// WriteExplain writes the explanation of a server's answer: the answer, then each policy with
// the fields that decide whether it applies, and the trees of its expressions.
func WriteExplain(w *bufio.Writer, r *report.ExplainReport, opts Options) error {
	p := &printer{w: w, opts: opts, width: clampWidth(opts.Width)}
	p.answer(r)
	for i := range r.Refused {
		e := &r.Refused[i]
		p.heading(span{escape.Text(e.Kind + " " + e.Name), bold}, span{": the server would not create it", red})
		p.quoted(e.Message)
	}
	for i := range r.Policies {
		p.explained(&r.Policies[i])
	}
	if r.Omitted > 0 {
		p.heading(span{fmt.Sprintf("%d more are not explained: select a policy with --policy.", r.Omitted), plainStyle})
	}
	if len(r.Policies) == 0 {
		p.heading(span{"No policies.", plainStyle})
	}
	return p.err
}

func (p *printer) answer(r *report.ExplainReport) {
	q := &r.Request
	object := report.Object{Kind: q.Kind, Namespace: q.Namespace, Name: q.Name, GenerateName: q.GenerateName}
	what := escape.Text(q.Operation) + " " + outline.ObjectName(&object)
	if q.Subresource != "" {
		what += " (" + escape.Text(q.Subresource) + ")"
	}
	by := ""
	if q.User != "" {
		by = " by " + q.User
	}
	p.line(span{what, bold}, span{escape.Text(by), dim})
	a := &r.Answer
	switch {
	case a.Allowed && len(a.Indeterminate) > 0:
		p.line(span{"not known", yellow})
	case a.Allowed:
		p.line(span{"allowed", green})
	default:
		p.message([]span{{"refused ", red}}, 2, plainStyle, fmt.Sprintf("%d %s: %s", a.Code, a.Reason, a.Message), nil)
	}
	for _, why := range a.Indeterminate {
		p.message([]span{{"unknown ", yellow}}, 2, plainStyle, why, nil)
	}
	for _, warning := range a.Warnings {
		p.block([]span{{"warning ", yellow}}, 2, plainStyle, escape.Text(warning))
	}
	for _, key := range sorted(a.AuditAnnotations) {
		p.block([]span{{"audit ", dim}}, 2, plainStyle, escape.Text(key+"="+a.AuditAnnotations[key]))
	}
}

// quoted writes the lines of a text without wrapping them.
func (p *printer) quoted(text string) {
	for _, line := range escape.Lines(strings.TrimSpace(text)) {
		p.line(blanks(4), span{line, plainStyle})
	}
}

func sorted(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (p *printer) explained(one *report.ExplainedPolicy) {
	name := one.Kind + " " + one.Name
	if one.Binding != "" {
		name += ", binding " + one.Binding
	}
	if one.Param != "" {
		name += ", param " + one.Param
	}
	word := map[string]span{"yes": {"applies", green}, "no": {"does not apply", dim}}[one.Applies]
	if word.text == "" {
		word = span{"may apply", yellow}
	}
	p.heading(span{escape.Text(name), bold}, span{": ", plainStyle}, word)
	for _, m := range one.Matching {
		lead := []span{blanks(2), {padded(m.Result, 8), resultStyle(m.Result)}, {escape.Text(m.Of+" "+m.Field) + "  ", plainStyle}}
		p.block(lead, 12, dim, escape.Text(m.Why))
	}
	for i := range one.Expressions {
		p.expression(&one.Expressions[i])
	}
	for _, c := range one.Costs {
		note := ""
		if c.Exhausted {
			note = ", which does not suffice"
		}
		p.line(blanks(2), span{fmt.Sprintf("cost of %s: %d of %d%s", escape.Text(c.Group), c.Cost, c.Budget, note), dim})
	}
	for _, t := range one.TypeWarnings {
		p.line(blanks(2), span{"type check ", yellow}, span{escape.Text(fmt.Sprintf("%s, line %d, column %d", t.Field, t.Line, t.Column)), plainStyle})
		p.quoted(t.Warning)
	}
	for _, line := range one.Changes {
		style := plainStyle
		if strings.HasPrefix(line, "+") {
			style = green
		} else if strings.HasPrefix(line, "-") {
			style = red
		}
		p.line(blanks(2), span{escape.Text(line), style})
	}
	for _, note := range one.Notes {
		p.block([]span{blanks(2), {"note ", yellow}}, 4, plainStyle, escape.Text(note))
	}
}

func resultStyle(result string) style {
	switch result {
	case "yes":
		return green
	case "no":
		return red
	}
	return yellow
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-terminal.Width(s)))
}

// expression writes an expression and the tree of its parts, with the values aligned.
func (p *printer) expression(e *report.ExplainedExpression) {
	title := e.Field
	if e.Name != "" {
		title += " (" + e.Name + ")"
	}
	cost := ""
	if e.State != report.StateSkipped {
		cost = fmt.Sprintf("  cost %d", e.Cost)
	}
	p.line()
	p.line(blanks(2), span{escape.Text(title), blue}, span{cost, dim})
	rows := partRows(e.Parts, 0, nil)
	if len(rows) == 0 {
		rows = []partRow{{text: strings.Join(strings.Fields(e.Text), " "), state: e.State, value: e.Value, why: e.Why}}
	}
	column := 0
	for _, r := range rows {
		if w := terminal.Width(escape.Text(r.text)) + 2*r.depth; w <= partWidth {
			column = max(column, w)
		}
	}
	for _, r := range rows {
		p.part(r, column)
	}
}

// partWidth is the maximum width of texts after which values are aligned.
const partWidth = 60

// shownValue is the maximum number of characters of a value that are written.
const shownValue = 160

// partRow is a line of an expression's tree. A row with aside set has only text.
type partRow struct {
	depth            int
	text, value, why string
	state            report.ExplainedState
	aside            bool
}

func partRows(parts []report.ExplainedPart, depth int, rows []partRow) []partRow {
	for i := range parts {
		e := &parts[i]
		rows = append(rows, partRow{depth: depth, text: e.Text, state: e.State, value: e.Value, why: e.Why})
		rows = partRows(e.Parts, depth+1, rows)
		for _, round := range e.Rounds {
			var bound []string
			for _, b := range round.Bound {
				bound = append(bound, b.Name+" = "+escape.Clip(b.Value, 100))
			}
			rows = append(rows, partRow{depth: depth + 1, text: fmt.Sprintf("round %d: %s", round.Index, strings.Join(bound, ", ")), aside: true})
			rows = partRows(round.Parts, depth+2, rows)
		}
		if e.MoreRounds > 0 {
			rows = append(rows, partRow{depth: depth + 1, text: fmt.Sprintf("%d more rounds", e.MoreRounds), aside: true})
		}
		if e.MoreParts {
			rows = append(rows, partRow{depth: depth + 1, text: "more parts", aside: true})
		}
	}
	return rows
}

func (p *printer) part(r partRow, column int) {
	indent, text := 4+2*r.depth, escape.Text(r.text)
	if r.aside {
		p.block([]span{blanks(indent)}, indent+2, dim, text)
		return
	}
	value, mark := span{escape.Text(escape.Clip(r.value, shownValue)), bold}, "= "
	switch r.state {
	case report.StateError:
		value, mark = span{escape.Text(r.why), red}, "! "
	case report.StateUnknown:
		value, mark = span{escape.Text("unknown: " + r.why), yellow}, "? "
	case report.StateSkipped:
		value, mark = span{"not evaluated", dim}, "- "
		if r.why != "" {
			value.text += escape.Text(": " + r.why)
		}
	}
	if w := terminal.Width(text) + 2*r.depth; w <= column {
		p.line(blanks(indent), span{text + strings.Repeat(" ", column-w+2), plainStyle}, span{mark, dim}, value)
		return
	}
	p.block([]span{blanks(indent)}, indent, plainStyle, text)
	p.line(blanks(indent+2), span{mark, dim}, value)
}
