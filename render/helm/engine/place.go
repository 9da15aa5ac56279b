package engine

import (
	"strings"
	"text/template/parse"
)

// Place is a place in a template file.
type Place struct {
	// File is the path of the template file, from the name of the chart.
	File string
	Line int
	// Literal is set for text of the template, as opposed to the output of an action.
	Literal bool
	// Tpl is the text that `tpl` executed, if the place is in one; Line is then a line of it, and File is
	// empty.
	Tpl string
	// Node identifies the part of the template.
	Node int
	// written is the segment that the part wrote.
	written *segment
}

// SameText reports whether two places are in text that was written at once, without the output of an action
// between them.
func (p Place) SameText(other Place) bool {
	return p.Literal && other.Literal && p.written != nil && p.written == other.written
}

// place returns the place of a node; for text, delta bytes after its start.
func (r *run) place(id, delta int) Place {
	if id < 0 {
		return Place{Node: -1}
	}
	n := r.node(id)
	if !n.literal {
		delta = 0
	}
	p := Place{File: n.file.name, Line: n.file.line(n.pos + delta), Literal: n.literal, Node: id}
	if n.file.name == "" {
		p.Tpl = n.file.text
	}
	return p
}

// Trace is the origin of a byte of the output: the place that wrote it, and the places of the calls that led
// there.
type Trace struct {
	// Places begins with the innermost place. It is empty for bytes that no template wrote.
	Places []Place
}

// At returns the origin of the byte at an offset.
func (f *File) At(offset int) Trace {
	var t Trace
	f.run.follow(f.call, offset, &t)
	return t
}

// follow adds the places of the byte at an offset of a call's output to a trace.
func (r *run) follow(c *call, offset int, t *Trace) {
	s := c.at(offset)
	if s == nil {
		return
	}
	if inner, at := r.inner(c, s, offset); inner != nil {
		r.follow(inner, at, t)
	} else {
		p := r.place(s.node, offset-s.offset)
		p.written = s
		t.Places = append(t.Places, p)
	}
	if len(t.Places) > 0 && t.Places[len(t.Places)-1].Node != s.node {
		t.Places = append(t.Places, r.place(s.node, 0))
	}
	for via := s.via; via != nil; via = via.outer {
		t.Places = append(t.Places, r.place(via.node, 0))
	}
}

// inner returns the call whose output contains the byte at an offset, before the segment's action wrote it,
// and the offset in it.
func (r *run) inner(c *call, s *segment, offset int) (*call, int) {
	text := c.written(s)
	at := offset - s.offset
	calls := s.calls
	if len(calls) == 0 {
		if kept := r.kept(c, s, text); kept != nil {
			return kept, at
		}
		return r.copied(s, text, at)
	}
	before, line := strings.Count(text[:at], "\n"), lineOf(text, at)
	lines := strings.Split(text, "\n")
	best, bestLine, longest, several := (*call)(nil), 0, 0, false
	for i := len(calls) - 1; i >= 0; i-- {
		calls[i].split()
		for j, trimmed := range calls[i].trimmed {
			if trimmed != strings.TrimSpace(lines[before]) || trimmed == "" {
				continue
			}
			switch run := agreement(lines, before, calls[i].trimmed, j); {
			case run > longest:
				best, bestLine, longest, several = calls[i], j, run, false
			case run == longest && calls[i] == best:
				several = true
			}
		}
	}
	if best == nil || several && longest < len(lines) {
		return within(calls, lines[before], at-line)
	}
	column := at - line - (len(lines[before]) - len(strings.TrimLeft(lines[before], " \t")))
	return best, min(best.starts[bestLine]+max(column, 0), len(best.text)-1)
}

// shortest is the minimum length of texts that are recognised.
const shortest = 16

// kept returns the call whose output an action got from a variable; nil if there is none.
func (r *run) kept(c *call, s *segment, text string) *call {
	whole := r.texts[text]
	pipe := r.node(s.node).pipe
	if whole == nil || pipe == nil || len(text) < shortest || c.number > 0 && whole.number >= c.number || !hasVariable(pipe) {
		return nil
	}
	return whole
}

// hasVariable reports whether a pipeline has a variable other than `$`.
func hasVariable(pipe *parse.PipeNode) bool {
	for _, command := range pipe.Cmds {
		for _, arg := range command.Args {
			if v, ok := arg.(*parse.VariableNode); ok && v.Ident[0] != "$" {
				return true
			}
		}
	}
	return false
}

// within finds the output of a call inside a line, if an action wrote text around it.
func within(calls []*call, line string, column int) (*call, int) {
	for i := len(calls) - 1; i >= 0; i-- {
		text := strings.TrimSpace(calls[i].text)
		if text == "" || strings.Contains(text, "\n") {
			continue
		}
		at := strings.Index(line, text)
		if at < 0 || strings.Contains(line[at+1:], text) || column < at || column >= at+len(text) {
			continue
		}
		lead := len(calls[i].text) - len(strings.TrimLeft(calls[i].text, " \t\n"))
		return calls[i], lead + column - at
	}
	return nil, 0
}

// agreement returns how many lines around two equal ones are equal, ignoring the space around them.
func agreement(a []string, i int, b []string, j int) int {
	n := 1
	for k := 1; i-k >= 0 && j-k >= 0 && strings.TrimSpace(a[i-k]) == b[j-k]; k++ {
		n++
	}
	for k := 1; i+k < len(a) && j+k < len(b) && strings.TrimSpace(a[i+k]) == b[j+k]; k++ {
		n++
	}
	return n
}

// written returns the text that the node of a segment wrote.
func (c *call) written(s *segment) string {
	end := len(c.text)
	for i := range c.segments {
		if &c.segments[i] == s && i+1 < len(c.segments) {
			end = c.segments[i+1].offset
		}
	}
	return c.text[s.offset:end]
}

// split finds the lines of a call's output.
func (c *call) split() {
	if c.trimmed != nil {
		return
	}
	at := 0
	for line := range strings.SplitSeq(c.text, "\n") {
		c.trimmed = append(c.trimmed, strings.TrimSpace(line))
		c.starts = append(c.starts, at+len(line)-len(strings.TrimLeft(line, " \t")))
		at += len(line) + 1
	}
}

// lineOf returns the offset at which the line of an offset begins.
func lineOf(text string, offset int) int { return strings.LastIndexByte(text[:offset], '\n') + 1 }
