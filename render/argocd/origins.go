package argocd

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/preadmit/preadmit/render"
	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Origins implements Source. It renders the objects again. Fields that the controller adds are written in the
// Application. What is written in another repository has the place where the source is named.
func (r *Renderer) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	u, problem := r.prepare(result.Root)
	if problem != nil {
		return nil, problem
	}
	all, problem := u.makeAll(ctx, tree.NewTrace())
	if problem != nil {
		return nil, problem
	}
	var origins []*origin.Origin
	var before []*render.Object
	for i, m := range all {
		more, err := m.origins(ctx)
		if err != nil {
			return nil, fmt.Errorf("locate the objects of %s: %w", result.Root, err)
		}
		for j := range m.objects {
			o := origin.Known(origin.Places{Document: u.written(u.app.SourceField(u.parts[i].index)), Why: "it is not known which line of the source wrote it"})
			if j < len(more) && more[j] != nil {
				o = more[j]
			}
			origins = append(origins, u.parts[i].inRepository(o))
			before = append(before, m.objects[j])
		}
	}
	done := u.finish(all)
	out := make([]*origin.Origin, len(result.Objects))
	for i := range out {
		switch {
		case i < len(done.from) && done.from[i] < len(origins):
			l := &located{unit: u, inner: origins[done.from[i]], before: before[done.from[i]], after: result.Objects[i]}
			out[i] = origin.New(l.places)
		case result.Objects[i].Role == render.RoleNamespace:
			out[i] = u.namespaceOrigin()
		default:
			out[i] = origin.Known(origin.Places{Document: u.written("spec")})
		}
	}
	return out, nil
}

// inRepository returns an origin with all places in the repository.
func (p *part) inRepository(o *origin.Origin) *origin.Origin {
	if p.top == "." && !p.from.IsChart() {
		return o
	}
	return o.Moved(func(at tree.Position) (tree.Position, string) {
		if !overlaid.Under(at.Path) {
			return at, ""
		}
		return p.written(p.field("repoURL")), fmt.Sprintf("it is written in %s, which is not in the repository", at)
	})
}

// located finds where an object of a unit was written.
type located struct {
	*unit
	inner *origin.Origin
	// before is the object before the controller set fields, after is with them.
	before, after *render.Object
}

func (l *located) places() origin.Places {
	p := origin.Places{Document: l.inner.Document(), Removals: l.inner.Removals, History: l}
	if l.inner.HasFields() {
		p.Find, p.Texts = l.find, true
	} else {
		p.Why = l.inner.Place("metadata.name", origin.Whole).Why
	}
	return p
}

// find returns where a part of a field was written.
func (l *located) find(path string, part origin.Part) origin.Place {
	if at, ok := l.added(path); ok {
		return at
	}
	return l.inner.Place(path, part)
}

// added returns where a value that the controller sets is written, if it set that of the field.
func (l *located) added(path string) (origin.Place, bool) {
	value, has := origin.Field(l.after.Content(), path)
	if before, had := origin.Field(l.before.Content(), path); !has || had && reflect.DeepEqual(before, value) {
		return origin.Place{}, false
	}
	writer, _ := origin.Field(map[string]any{"metadata": map[string]any{
		"namespace":   "spec.destination.namespace",
		"annotations": map[string]any{trackingAnnotation: "metadata.name"},
		"labels":      map[string]any{cmp.Or(l.root.Unit.Application.InstanceLabel, instanceLabel): "metadata.name"},
	}}, path)
	field, ok := writer.(string)
	if !ok {
		return origin.Place{}, false
	}
	at := l.written(field)
	return origin.Place{Position: at, Evidence: origin.Inferred}, at.Line > 0
}

// Steps implements origin.History.
func (l *located) Steps(path string, part origin.Part, _ origin.Place) []origin.Step {
	if added, ok := l.added(path); ok {
		return []origin.Step{{Position: added.Position, Kind: origin.StepMetadata}}
	}
	return l.inner.Chain(path, part)
}

// RemovalStep implements origin.History.
func (l *located) RemovalStep(_ string, last origin.Step) origin.Step { return last }

// Kustomizations implements origin.History.
func (l *located) Kustomizations() (entry tree.Position, through []origin.Kustomization) {
	return l.inner.Kustomizations()
}

// DeletedBy implements origin.History.
func (l *located) DeletedBy(t *tree.Tree, dir string) []origin.Deletion {
	return l.inner.DeletedBy(t, dir)
}
