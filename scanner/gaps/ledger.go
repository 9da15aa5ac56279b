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
	// Counts are the roots of the head by outcome.
	Counts report.RootCounts
	// Failed are findings about roots that do not render and did before, or are new.
	Failed []lines.Finding
	// Notes are remarks.
	Notes []report.Diagnostic

	gaps []Gap
	// unjudged holds the roots that are known not to be judged as a whole, in a way that
	// counts against the change.
	unjudged map[render.RootID]bool
	gathered map[string]*gathered
	options  Options
}

// Options are what a ledger goes by besides the change.
type Options struct {
	Config config.Config
	// Under restricts it to directories and files; none for all.
	Under []string
	// Refused are directories that are not to be rendered, each with the reason.
	Refused map[string]string
	Workers parallel.Workers
}

// New returns a ledger of a change.
func New(c *change.Change, options Options) *Ledger {
	return &Ledger{Change: c, options: options, unjudged: map[render.RootID]bool{}, gathered: map[string]*gathered{}}
}

// Add adds a gap.
func (l *Ledger) Add(g Gap) {
	if g.Untouched && g.what() != "root" { // it is one of many, and not worth looking for its line
		g.Locate = nil
	}
	l.gaps = append(l.gaps, g)
}

// AddObject adds an object that was not judged.
func (l *Ledger) AddObject(kind render.GapKind, o *admission.Object, key admission.Key, why string) {
	l.Add(objectGap(kind, o, key, why))
}

// addRoot adds a gap that is a root as a whole, which the trees know by ids.
func (l *Ledger) addRoot(g Gap, ids ...render.RootID) {
	l.Add(g)
	for _, id := range ids {
		l.unjudged[id] = l.unjudged[id] || !g.Untouched
	}
}

// Note adds a remark.
func (l *Ledger) Note(d report.Diagnostic) { l.Notes = append(l.Notes, d) }

// Unlocated notes that lines of a root are not known, if err says why.
func (l *Ledger) Unlocated(root string, err error) {
	if err != nil {
		l.Note(report.Diagnostic{Severity: "warning", Root: root, Message: "the lines of findings here are not known: " + err.Error()})
	}
}

// Locate finds the lines of what was not judged, and of findings and remarks with them: what it takes to find
// those of a root takes much memory, and is there for one root at a time.
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

// Indeterminate returns the gaps as a report has them. The report puts them in its order.
func (l *Ledger) Indeterminate() []report.Indeterminate {
	all := []report.Indeterminate{}
	for i := range l.gaps {
		all = append(all, l.gaps[i].indeterminate())
	}
	return all
}
