package gaps

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/parallel"
)

// Ledger collects what was not judged.
type Ledger struct {
	*change.Change
	// Counts has the number of roots of the head by outcome.
	Counts report.RootCounts
	// Failed are findings about roots that do not render at head and rendered at base or are new.
	Failed []lines.Finding
	// Notes are diagnostics.
	Notes []report.Diagnostic

	gaps []Gap
	// unjudged has the roots that are not judged as a whole and count against the change.
	unjudged map[render.RootID]bool
	gathered map[string]*gathered
	options  Options
}

// Options are the options of a ledger.
type Options struct {
	Config config.Config
	// Under restricts the ledger to directories and files; empty means no restriction.
	Under []string
	// Refused maps directories that are not to be rendered to the reason.
	Refused map[string]string
	Workers parallel.Workers
}

// New returns a ledger of a change.
func New(c *change.Change, options Options) *Ledger {
	return &Ledger{Change: c, options: options, unjudged: map[render.RootID]bool{}, gathered: map[string]*gathered{}}
}

// Add adds a gap.
func (l *Ledger) Add(g Gap) {
	if g.Untouched && g.what() != "root" { // there are many of these, and finding their lines is not worth the time
		g.Locate = nil
	}
	l.gaps = append(l.gaps, g)
}

// AddObject adds an object that was not judged.
func (l *Ledger) AddObject(kind render.GapKind, o *admission.Object, key admission.Key, why string) {
	l.Add(objectGap(kind, o, key, why))
}

// addRoot adds a gap for a whole root with the given IDs.
func (l *Ledger) addRoot(g Gap, ids ...render.RootID) {
	l.Add(g)
	for _, id := range ids {
		l.unjudged[id] = l.unjudged[id] || !g.Untouched
	}
}

// Note adds a diagnostic.
func (l *Ledger) Note(d report.Diagnostic) { l.Notes = append(l.Notes, d) }

// Unlocated notes that lines of findings in a root are not known, if err is not nil.
func (l *Ledger) Unlocated(root string, err error) {
	if err != nil {
		l.Note(report.Diagnostic{Severity: "warning", Root: root, Message: "the lines of findings here are not known: " + err.Error()})
	}
}

// Locate finds the lines of objects that were not judged, and of findings and remarks. It does all of this
// for one root at a time, since the positions of a root take much memory.
func (l *Ledger) Locate(ctx context.Context, locator *lines.Locator, findings, remarks []lines.Finding) error {
	var objects []*admission.Object
	var of []*Gap
	for i := range l.gaps {
		if g := &l.gaps[i]; g.Object != nil {
			objects, of = append(objects, g.Object), append(of, g)
		}
	}
	l.options.Workers.Spread(len(l.gaps), func(i int) { l.gaps[i].Place() })
	documents, err := locator.Locate(ctx, findings, remarks, objects)
	for i, d := range documents {
		of[i].location = d.Location
		l.Unlocated(of[i].Root.String(), d.Unlocated)
	}
	return err
}

// Indeterminate returns the gaps for the report, unsorted.
func (l *Ledger) Indeterminate() []report.Indeterminate {
	all := []report.Indeterminate{}
	for i := range l.gaps {
		all = append(all, l.gaps[i].indeterminate())
	}
	return all
}
