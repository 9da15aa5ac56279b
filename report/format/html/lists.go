package html

import (
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// pagePlaces is the maximum number of places listed below one reason.
const pagePlaces = 200

// openChanges is the maximum number of changed objects that are shown unfolded.
const openChanges = 5

// reasonView shows a reason why something could not be judged, with its places.
type reasonView struct {
	Why    string
	Places []string
	More   string
}

// indeterminate returns the section of what could not be judged, by reason. Unless Verbose,
// it leaves out what the change does not touch.
func (h *page) indeterminate(list []report.Indeterminate) sectionView {
	s := sectionView{ID: "indeterminate", Title: "Not judged", Intro: "What could not be judged is not known to be allowed."}
	if !h.opts.Verbose {
		list, _ = outline.Touched(list)
	}
	s.Count = len(list)
	p := &pieces{limit: listBytes}
	for _, u := range outline.Reasons(list) {
		p.put(h.part("reason", h.reason(u)), u.Count())
	}
	s.Body, s.LeftOut = p.html(), p.leftOut("place", jsonHasAll)
	return s
}

func (h *page) reason(u *outline.Reason) reasonView {
	v := reasonView{Why: strings.Join(escape.Lines(escape.Clip(u.Why, messageRunes)), "\n")}
	for i, pl := range u.Places {
		if i == pagePlaces {
			v.More = "and " + outline.Count(len(u.Places)-i, "more place")
			break
		}
		v.Places = append(v.Places, escape.Clip(pl.Text(h.opts.Verbose), messageRunes))
	}
	return v
}

// lineItem is a remark in one line.
type lineItem struct {
	Class, Word string
	Place       placeView
	Text, Note  string
}

// charts returns the section of new versions of charts.
func (h *page) charts(r *report.Report) sectionView {
	var items []lineItem
	for _, c := range outline.Charts(r) {
		item := lineItem{Class: "audit", Word: "Chart", Place: h.place(&c.Location), Text: escape.Clip(c.Title+": "+c.Changes, messageRunes)}
		if c.Unread {
			item.Class, item.Note = "clean", "("+outline.ChartUnread+")"
		}
		items = append(items, item)
	}
	return h.list("charts", "New versions of charts", "chart", items)
}

// remarks returns the section of diagnostics.
func (h *page) remarks(list []report.Diagnostic) sectionView {
	var items []lineItem
	for _, r := range outline.Remarks(list) {
		if r.Untouched && !h.opts.Verbose {
			continue
		}
		item := lineItem{Class: severityClass(r.Severity), Word: outline.SeverityWord(r.Severity), Text: strings.Join(escape.Lines(escape.Clip(r.Message, messageRunes)), "\n")}
		if r.Location != nil {
			item.Place = h.place(r.Location)
		}
		if roots := outline.RootList(r.Roots, r.Location, h.opts.Verbose); roots != "" {
			item.Note = "(" + escape.Clip(roots, messageRunes) + ")"
		}
		items = append(items, item)
	}
	return h.list("remarks", "Remarks", "remark", items)
}

func severityClass(severity string) string {
	switch severity {
	case "error":
		return "deny"
	case "warning":
		return "warn"
	}
	return "audit"
}

// resolved returns the section of resolved findings.
func (h *page) resolved(findings []report.Finding) sectionView {
	var items []lineItem
	for i := range findings {
		f := &findings[i]
		if f.Status != report.StatusResolved {
			continue
		}
		item := lineItem{Class: "clean", Word: outline.ClassOf(f).Title(), Place: h.place(&f.Location), Text: outline.FirstLine(f.Message)}
		if f.Policy != "" {
			item.Note = "(" + escape.Text(f.Policy) + ")"
		}
		items = append(items, item)
	}
	return h.list("resolved", "Resolved", "resolved finding", items)
}

func (h *page) list(id, title, noun string, items []lineItem) sectionView {
	p := &pieces{limit: listBytes}
	p.put("<ul class=\"lines\">\n", 0)
	for _, item := range items {
		if p.full {
			p.put("", 1)
			continue
		}
		p.put(h.part("line", item), 1)
	}
	p.b.WriteString("</ul>\n")
	return sectionView{ID: id, Title: title, Count: len(items), Body: p.html(), LeftOut: p.leftOut(noun, jsonHasAll)}
}

// changeView is the diff of one object.
type changeView struct {
	ID, Operation, Name string
	Added, Removed      int
	Runs                []runView
	Note                string
	Open                bool
}

// runView has consecutive lines of a diff of one kind.
type runView struct{ Kind, Text string }

// changes returns the section of the rendered diff, by root.
func (h *page) changes(c *report.Changes) sectionView {
	if c == nil {
		return sectionView{}
	}
	s := sectionView{ID: "changes", Title: "Rendered diff", Count: len(c.Objects) + c.LeftOut}
	s.Intro = outline.ChangesSummary(c, nil) + "."
	p := &pieces{limit: changesBytes, left: c.LeftOut}
	objects := map[string]int{}
	for i := range c.Objects {
		objects[c.Objects[i].Root]++
	}
	for i := range c.Objects {
		o := &c.Objects[i]
		if p.full {
			p.put("", 1)
			continue
		}
		v := changeOf(o, h.next())
		v.Open = len(c.Objects) <= openChanges
		text := h.part("change", v)
		if i == 0 || o.Root != c.Objects[i-1].Root {
			text = h.part("group", groupView{"Root", escape.Text(o.Root), objects[o.Root]}) + text
		}
		if p.put(text, 1) {
			h.anchors[changeKey{o.Root, o.Object}] = v.ID
		}
	}
	s.Body, s.LeftOut = p.html(), p.leftOut("changed object", "preadmit diff shows more.")
	return s
}

func changeOf(o *report.ObjectChange, number int) changeView {
	v := changeView{
		ID: "change-" + strconv.Itoa(number), Operation: escape.Text(o.Operation), Name: outline.ObjectName(&o.Object),
		Added: o.Added, Removed: o.Removed, Note: outline.ChangeNote(o),
	}
	var text strings.Builder
	for i, line := range o.Diff {
		text.WriteString(outline.DiffLine(line) + "\n")
		if i+1 == len(o.Diff) || outline.DiffKind(o.Diff[i+1]) != outline.DiffKind(line) {
			v.Runs = append(v.Runs, runView{string(outline.DiffKind(line)), text.String()})
			text.Reset()
		}
	}
	return v
}
