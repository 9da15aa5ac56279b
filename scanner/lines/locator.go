package lines

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/locate"
	"github.com/preadmit/preadmit/scanner/parallel"
)

// Locator finds the lines of objects and their fields. It loads the sources of a root when the first of its objects
// needs them, and Locate releases them after the last one.
type Locator struct {
	// ctx is the context of the scan, since values loaded in one stage are kept for later stages.
	ctx    context.Context
	change *change.Change
	work   parallel.Workers
	// answers is the cache that processes share; nil if there is none.
	answers *origin.Answers

	mu      sync.Mutex
	sources map[sourceKey]func() ([]*origin.Origin, error)
	texts   texts
	// finder finds the fields that decide validations.
	finder func() (*locate.Finder, error)
	// changes has the changed lines of the head.
	changes *changes
}

// sourceKey identifies a root of a side and its files, which may be only some of its directory.
type sourceKey struct {
	side  *change.Side
	root  render.RootID
	files string
}

func keyOf(o *admission.Object) sourceKey {
	from := change.OriginOf(o)
	return sourceKey{from.Side, from.Root.RootID, strings.Join(from.Root.Files, "\x00")}
}

// forget releases the sources of the root of an object, which take as much memory as rendering it. They are
// loaded again if needed.
func (l *Locator) forget(o *admission.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sources, keyOf(o))
}

// Kept returns the number of roots whose sources are in memory.
func (l *Locator) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sources)
}

// New returns a Locator for a change. The context must last as long as the Locator is used.
func New(ctx context.Context, c *change.Change, work parallel.Workers, answers *origin.Answers) *Locator {
	return &Locator{
		ctx: ctx, change: c, work: work, answers: answers, changes: newChanges(c.Base, c.Head),
		sources: map[sourceKey]func() ([]*origin.Origin, error){},
		finder:  sync.OnceValues(locate.NewFinder),
	}
}

// source returns the source of an object.
func (l *Locator) source(ctx context.Context, o *admission.Object) (*origin.Origin, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	from, key := change.OriginOf(o), keyOf(o)
	l.mu.Lock()
	load, ok := l.sources[key]
	if !ok {
		load = sync.OnceValues(func() ([]*origin.Origin, error) {
			return l.answers.Of(l.identity(from), from.Result.KubeVersion.IsRead, func() ([]*origin.Origin, error) {
				defer from.Side.Begin(from.Root.Dir)()
				return from.Side.Renderer.Origins(l.ctx, from.Result)
			})
		})
		l.sources[key] = load
	}
	l.mu.Unlock()
	sources, err := load()
	if err != nil {
		return nil, fmt.Errorf("find the sources of %s: %w", from.Root.Dir, err)
	}
	if from.Index >= len(sources) {
		return nil, fmt.Errorf("find the sources of %s: %d for more objects", from.Root.Dir, len(sources))
	}
	return sources[from.Index], nil
}

// identity returns the name of a root in the shared cache; empty if the cache does not have the root.
func (l *Locator) identity(from change.Origin) string {
	if l.answers == nil || from.Result.Problem != nil {
		return ""
	}
	return from.Side.Identity(from.Root, from.Result)
}

// Place returns the line of the first of fields that was written, or else of the nearest ancestor of the first one.
// Without fields it returns the object's document.
func (l *Locator) Place(ctx context.Context, o *admission.Object, fields []string) (report.Location, error) {
	loc, _, err := l.locateFirst(ctx, o, fields)
	return loc, err
}

// locateFirst is like Place, but also returns the place itself.
func (l *Locator) locateFirst(ctx context.Context, o *admission.Object, fields []string) (report.Location, origin.Place, error) {
	source, err := l.source(ctx, o)
	if err != nil {
		from := change.OriginOf(o)
		return report.Location{Path: from.Side.Path(from.Root.Dir), Tree: from.Side.TreeName()}, origin.Place{}, err
	}
	place, field := findFirst(source, fields)
	return l.at(o, place, field), place, nil
}

// findFirst returns the place of the first field that was written; if none was, that of the nearest ancestor of the
// first one.
func findFirst(source *origin.Origin, fields []string) (place origin.Place, field string) {
	for _, f := range fields {
		if place := source.Place(f, origin.Whole); place.Found() {
			return place, f
		}
	}
	if len(fields) == 0 {
		return origin.Place{Position: source.Document()}, ""
	}
	return source.Place(fields[0], origin.Whole), fields[0]
}

// at returns the location of a field of an object at a place.
func (l *Locator) at(o *admission.Object, place origin.Place, field string) report.Location {
	from := change.OriginOf(o)
	loc := change.LocationOf(place.Position, from.Side.TreeName())
	loc.Path, loc.Field, loc.Exact = from.Side.Path(place.Path), field, place.Evidence == origin.Marked
	if from.Root.Kind == render.KindHelm && !place.Found() {
		loc.Message = place.Why // names the part of the chart
	}
	l.addSnippet(&loc, from.Side, place.Path, isSecret(o))
	return loc
}

func isSecret(o *admission.Object) bool {
	kind := o.GroupVersionKind()
	return kind.Group == "" && kind.Kind == "Secret"
}
