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
	// titleRunes is the maximum length of a message in a heading.
	titleRunes = 240
	// messageRunes is the maximum length of a message.
	messageRunes = 10_000
	// Messages with more lines or runes are folded.
	foldLines, foldRunes = 5, 400
	// pageRequests is the maximum number of additional requests listed for an entry.
	pageRequests = 100
)

// findingView shows an entry: a finding with all its requests.
type findingView struct {
	ID, Class, Action, Title string
	// Message has the lines after the title, or the whole message if the title is cut.
	Message string
	// Fold is set for a long message, like that of an expression that does not compile.
	Fold  bool
	Place placeView
	// About are the requests; Marks are remarks to show next to them.
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

// detailView is a named detail with its values.
type detailView struct {
	Name   string
	Values []string
	// Code is set for values that are code or names.
	Code bool
}

// groupView is a heading over entries.
type groupView struct {
	Words, Name string
	Count       int
}

// findings returns a section of entries, with a heading for each class and rule.
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
			if p.full { // do not execute the template for nothing
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

// pageClass returns the CSS class for a class of findings.
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

// marks returns the remarks on a finding: its status if there is a base, whether the policies
// are only proposed, and whether it is on an object that a controller creates.
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

// place returns path:line:column, with a link if its URL is known.
func (h *page) place(l *report.Location) placeView {
	if l.Path == "" {
		return placeView{Text: "(no file)"}
	}
	return placeView{outline.Place(l), outline.Link(h.opts.Blob, l)}
}

// chainSteps returns the places that wrote an entry's field, in order.
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

// details returns the details that are shown on demand.
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
		{"Kubernetes", []string{escape.Text(strings.Join(f.Kubernetes, ", "))}, false},
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

// requestList returns the requests of an entry if it has several.
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

// changeKey identifies an object of a root, to link findings to the rendered diff.
type changeKey struct {
	root   string
	object report.Object
}

func keyOfFinding(f *report.Finding) changeKey {
	return changeKey{f.Root, *cmp.Or(f.Object, &report.Object{})}
}
