package helm

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

// Origins implements Source. The place of a field is the value that decides it, found by changing values and
// rendering again; otherwise the line of the template if that is in the tree, or the place that names the
// chart.
func (s *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	if p := s.problem(result.Root); p != nil {
		return nil, p
	}
	in := &installed{Source: s, root: result.Root, chart: s.chartOf(result.Root), kubeVersion: result.KubeVersion}
	t := &tracer{installed: in, ctx: ctx, result: result}
	found := make([]*origin.Origin, len(result.Objects))
	for i := range found {
		o := &traced{tracer: t, index: i}
		found[i] = origin.New(sync.OnceValue(o.places))
	}
	return found, nil
}

// tracer finds where the objects of a root come from. It renders the root again unless its release is kept.
type tracer struct {
	*installed
	ctx    context.Context
	result *render.Result

	mu      sync.Mutex
	begun   bool
	release *release.HelmRelease
	made    *release.Release
	// tracer is nil when the root does not render to the same objects.
	tracer *locate.Tracer
	plain  []*render.Object
	// documents are the documents that templates made. tried caches the post-renderers' output for them with
	// one entry changed, by that entry.
	documents []*release.Document
	tried     map[*postEntry]map[*release.Document][]*release.Object
	entries   []*postEntry
}

// begin renders the root with a trace.
func (t *tracer) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return
	}
	t.begun = true
	if t.chart.err != nil {
		return
	}
	h, err := release.ParseHelmRelease(t.root.Unit.Object)
	if err != nil {
		return
	}
	user, err := t.values(h, nil)
	if err != nil {
		return
	}
	made, err := t.releaseOf(h, user)
	if err != nil {
		return
	}
	rendered := t.kept.take(t.root)
	if rendered == nil {
		if rendered, err = made.Once(t.ctx); err != nil {
			return
		}
	}
	all := append(append([]*release.Object{}, rendered.CRDs...), rendered.Objects...)
	all = append(all, rendered.Hooks...)
	certain := slices.IndexFunc(t.result.Objects, func(o *render.Object) bool { return o.Role == render.RolePossible || o.Role == render.RoleNamespace })
	if certain < 0 {
		certain = len(t.result.Objects)
	}
	if len(all) != certain {
		return
	}
	t.release, t.made, t.documents = h, made, rendered.Documents()
	layers := t.layersOf(h)
	t.tracer = locate.New(t.ctx, locate.Traced{
		Release: made, Objects: all, Chart: rendered.Chart, Name: t.name(), Named: t.chartLine(),
		Written: func(l *locate.Leaf) (origin.Place, bool) { return layers.written(l) }, ReleaseAt: layers.releaseAt,
	})
}

// origins returns the origin of an object of another root.
func (in *installed) origins(root render.RootID, index int) (*origin.Origin, error) {
	u := in.root.Unit
	if u.Origins == nil || root == (render.RootID{}) {
		return nil, errors.New("it is not known where it was written")
	}
	return u.Origins(context.Background(), root, index)
}

// withoutPostRenderers returns the objects of the root without post-renderers.
func (t *tracer) withoutPostRenderers() []*render.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain == nil {
		t.plain = []*render.Object{}
		made := *t.made
		made.PostRenderers = nil
		if rendered, err := made.Once(t.ctx); err == nil {
			t.plain = t.objects(rendered)
		}
	}
	return t.plain
}

// traced is an object of a traced root.
type traced struct {
	*tracer
	index int
}

func (o *traced) places() origin.Places {
	if o.result.Objects[o.index].Role == render.RoleNamespace {
		return o.namespacePlaces()
	}
	o.begin()
	if o.tracer.tracer == nil || o.result.Objects[o.index].Role == render.RolePossible {
		return origin.Places{Document: o.chartLine(), Find: func(string, origin.Part) origin.Place { return o.fallback() }}
	}
	return origin.Places{Document: o.tracer.tracer.Document(o.index), Find: o.find, Removals: o.removals, Texts: true, History: locate.History(o.steps)}
}

func (o *traced) fallback() origin.Place {
	return origin.Place{Position: o.chartLine(), Why: "it is made by " + o.name()}
}

// find returns the place of a field.
func (o *traced) find(field string, part origin.Part) origin.Place {
	if place, ok := o.added(field); ok {
		return place
	}
	value, found := origin.Field(o.result.Objects[o.index].Content(), field)
	if place, ok := o.patched(field, part, value, found); ok {
		return place
	}
	was, _ := o.unpatched(field)
	return o.tracer.tracer.PlaceOf(o.index, locate.Field{Path: was, Applied: field}, part, value, found)
}

// steps returns the history of a field; at is its place.
func (o *traced) steps(field string, part origin.Part, at origin.Place) []origin.Step {
	value, found := origin.Field(o.result.Objects[o.index].Content(), field)
	if _, ok := o.added(field); ok {
		return []origin.Step{{Position: at.Position, Kind: origin.StepMetadata}}
	}
	if _, ok := o.patched(field, part, value, found); ok {
		return []origin.Step{{Position: at.Position, Kind: origin.StepPatch}}
	}
	was, _ := o.unpatched(field)
	return o.tracer.tracer.Steps(o.index, was, part, value, found, at)
}

// rendered returns the object as the release contains it.
func (o *traced) rendered() (content map[string]any) {
	return (&render.Object{JSON: o.tracer.tracer.Objects[o.index].JSON}).Content()
}
