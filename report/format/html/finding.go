package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

const (
	// titleRunes is the most of a message that a heading has.
	titleRunes = 240
	// messageRunes is the most of a message that is shown.
	messageRunes = 10_000
	// A message of more lines or runes is folded.
	foldLines, foldRunes = 5, 400
	// pageRequests is the number of requests listed for an entry.
	pageRequests = 100
)

// findingView is an entry: one remark, and all the requests it was made on.
type findingView struct {
	ID, Class, Action, Title string
	// Message is the lines that follow the title, or the whole message if the title is
	// cut.
	Message string
	// Fold says that the message is long, as that of an expression that does not compile.
	Fold  bool
	Place placeView
	// About is what was asked; Marks is what else a reader must know first.
	About, Marks []string
	Source       sourceView
	Chain        []stepView
	Related      []relatedView
	Details      []detailView
	// Change is the anchor of the object in the rendered diff.
	Change string
}

type placeView struct{ Text, Link string }

type stepView struct{ Text, Note string }

type relatedView struct {
	Place  placeView
	Note   string
	Source sourceView
}

// detailView is a name and what it has.
type detailView struct {
	Name   string
	Values []string
	// Code is set for text of programs, which is no prose.
	Code bool
}

// groupView is a heading over entries.
type groupView struct {
	Words, Name string
	Count       int
}

// findings writes entries below a heading for each action and rule, the worst first.
func (h *page) findings(id, title string, entries []*outline.Entry, limit int) sectionView {
	s := sectionView{ID: id, Title: title}
	p := &pieces{limit: limit}
	for _, g := range outline.GroupByRule(entries) {
		n := 0
		for _, e := range g.Entries {
			n += 1 + len(e.Also)
		}
		s.Count += n
		words, name := outline.RuleOf(g.Entries[0].Finding)
		heading := h.part("group", groupView{g.Lead() + words, escape.Text(name), n})
		for _, e := range g.Entries {
			if p.full { // spare the work
				p.put("", 1+len(e.Also))
				continue
			}
			if p.put(heading+h.part("finding", h.finding(e)), 1+len(e.Also)) {
				heading = ""
			}
		}
	}
	s.Body, s.LeftOut = p.html(), p.leftOut("finding", jsonHasAll)
	return s
}

func (h *page) finding(e *outline.Entry) findingView {
	lines := escape.Lines(escape.Clip(e.Message, messageRunes))
	v := findingView{
		ID: "finding-" + strconv.Itoa(h.next()), Class: pageClass(outline.ClassOf(e.Finding)), Action: outline.ClassOf(e.Finding).Title(),
		Title: escape.Clip(lines[0], titleRunes), Place: h.place(&e.Location), Marks: h.marks(e.Finding),
		Source: h.source(&e.Location), Chain: chainSteps(e), Details: h.details(e), Change: h.anchors[keyOfFinding(e.Finding)],
	}
	if about := outline.Request(e.Finding); about != "" {
		v.About = append(v.About, about)
	}
	if n := len(e.Also); n > 0 {
		v.About = append(v.About, "and "+outline.Count(n, "more request"))
	}
	if v.Title == lines[0] {
		lines = lines[1:]
	}
	v.Message = strings.Join(lines, "\n")
	v.Fold = len(lines) > foldLines || utf8.RuneCountInString(v.Message) > foldRunes
	for i := range e.Location.Related {
		l := &e.Location.Related[i]
		v.Related = append(v.Related, relatedView{h.place(l), escape.Text(l.Message), h.source(l)})
	}
	return v
}

// pageClass is the style of a class.
func pageClass(c outline.Class) string {
	switch {
	case c == "":
		return "clean"
	case c.Denies():
		return "deny"
	case c == outline.Warning:
		return "warn"
	}
	return "audit"
}

// marks are the status where there is a base, whose policies they are, and whether it
// is about what a controller creates.
func (h *page) marks(f *report.Finding) []string {
	var out []string
	if h.compared {
		out = append(out, escape.Text(string(f.Status)))
	}
	if f.Policies == report.PoliciesProposed {
		out = append(out, "by the proposed policies")
	}
	if note := outline.GeneratedNote(f); note != "" {
		out = append(out, note)
	}
	return out
}

// place is path:line:column, linked if it is known to what.
func (h *page) place(l *report.Location) placeView {
	if l.Path == "" {
		return placeView{Text: "(no file)"}
	}
	return placeView{outline.Place(l), outline.Link(h.opts.Blob, l)}
}

// chainSteps are the places that wrote an entry's field, one after the other.
func chainSteps(e *outline.Entry) []stepView {
	var out []stepView
	for _, step := range e.SharedChain() {
		s := stepView{Text: escape.Text(step.Path), Note: escape.Text(step.Kind)}
		if step.StartLine > 0 {
			s.Text += ":" + strconv.Itoa(step.StartLine)
		}
		if step.Absent {
			s.Note = outline.Join(", ", s.Note, "without the field")
		}
		out = append(out, s)
	}
	return out
}

// details are what is shown on demand.
func (h *page) details(e *outline.Entry) []detailView {
	f := e.Finding
	var validation, param string
	if f.Validation != nil {
		validation = fmt.Sprintf("validations[%d]", *f.Validation)
	}
	if f.Param != nil {
		param = outline.Join("/", escape.Text(f.Param.Namespace), escape.Text(f.Param.Name))
	}
	exact := ""
	if !f.Location.Exact {
		exact = "the nearest one known, not proven"
	}
	all := []detailView{
		{"Requests", requestList(e), false},
		{"Cause", []string{outline.CauseNote(f)}, false},
		{"Field", []string{escape.Text(f.Location.Field)}, true},
		{"Policy", []string{escape.Text(f.Policy), validation}, true},
		{"Expression", []string{strings.Join(escape.Lines(f.Expression), "\n")}, true},
		{"Binding", []string{escape.Text(f.Binding)}, true},
		{"Param", []string{param}, true},
		{"Creates", []string{outline.ObjectName(f.Generated)}, true},
		{"Actions", []string{escape.Text(joinActions(f.Actions))}, false},
		{"Reason", []string{escape.Text(f.Reason)}, false},
		{"Place", append(e.Places(true), exact), false},
		{"Fingerprint", []string{escape.Text(f.Fingerprint)}, true},
	}
	var out []detailView
	for _, d := range all {
		d.Values = slices.DeleteFunc(d.Values, func(s string) bool { return s == "" })
		if len(d.Values) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// requestList lists the requests of an entry that has several.
func requestList(e *outline.Entry) []string {
	if len(e.Also) == 0 {
		return nil
	}
	list := []string{outline.Request(e.Finding)}
	for i, f := range e.Also {
		if i == pageRequests {
			return append(list, "and "+outline.Count(len(e.Also)-i, "more request"))
		}
		list = append(list, outline.Request(f))
	}
	return list
}

func joinActions(actions []report.Action) string {
	if len(actions) < 2 {
		return ""
	}
	var names []string
	for _, a := range actions {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// changeKey is what a finding and an object's change have in common.
type changeKey struct {
	root   string
	object report.Object
}

func keyOfFinding(f *report.Finding) changeKey {
	return changeKey{f.Root, *cmp.Or(f.Object, &report.Object{})}
}
