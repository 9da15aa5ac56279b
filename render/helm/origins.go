package helm

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

const (
	// fieldTries is how many values are tried for a field, and rootTries for all fields of a
	// root: each is a render.
	fieldTries, rootTries = 4, 64
)

// Origins implements Source. A field is where the value is written that decides it, as is found
// by changing values and rendering again; else in the template, if that is in the tree, or where
// the chart is named.
func (s *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	if p := s.problem(result.Root); p != nil {
		return nil, p
	}
	in := &installed{Source: s, root: result.Root, chart: s.chartOf(result.Root)}
	t := &tracer{installed: in, ctx: ctx, result: result, tried: map[*leaf]*attempt{}}
	found := make([]*origin.Origin, len(result.Objects))
	for i := range found {
		o := &traced{tracer: t, index: i}
		found[i] = origin.New(o.places)
	}
	return found, nil
}

// tracer finds where the objects of a root come from. It renders the root once more, and again
// for each value that is tried.
type tracer struct {
	*installed
	ctx    context.Context
	result *render.Result

	mu       sync.Mutex
	begun    bool
	release  *release.HelmRelease
	user     map[string]any
	rendered []*release.Object
	all      []*leaf
	tried    map[*leaf]*attempt
	plain    *attempt
	renders  int
}

// attempt is what the root renders to with another value.
type attempt struct{ objects []*render.Object }

// begin renders the root with a trace. It is called with the lock held.
func (t *tracer) begin() {
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
	user, err := t.values(h, leftOut)
	if err != nil {
		return
	}
	rendered, err := t.with(t.ctx, h, user)
	if err != nil {
		return
	}
	t.release, t.user = h, user
	all := append(append([]*release.Object{}, rendered.CRDs...), rendered.Objects...)
	if all = append(all, rendered.Hooks...); len(all) == len(t.result.Objects) {
		t.rendered = all
	}
	t.all, _ = t.leaves() // without them no value is found
}

// origins is where an object of another root was written.
func (in *installed) origins(root render.RootID, index int) (*origin.Origin, error) {
	u := in.root.Unit
	if u.Origins == nil || root == (render.RootID{}) {
		return nil, errors.New("it is not known where it was written")
	}
	return u.Origins(context.Background(), root, index)
}

// attempt renders the root with another value of a leaf; nil when there were too many.
func (t *tracer) attempt(l *leaf) *attempt {
	if known, ok := t.tried[l]; ok {
		return known
	}
	if t.renders >= rootTries {
		return nil
	}
	t.renders++
	a := &attempt{}
	if rendered, err := t.with(t.ctx, t.release, l.with(t.user, t.chart.chart.Values, l.other())); err == nil {
		a.objects = t.objects(rendered)
	}
	t.tried[l] = a
	return a
}

// withoutPostRenderers renders the root without post-renderers.
func (t *tracer) withoutPostRenderers() *attempt {
	if t.plain == nil {
		t.plain = &attempt{}
		h := *t.release
		h.Spec.PostRenderers = nil
		if rendered, err := t.with(t.ctx, &h, t.user); err == nil {
			t.plain.objects = t.objects(rendered)
		}
	}
	return t.plain
}

// traced is an object of a root that is traced.
type traced struct {
	*tracer
	index int
}

func (o *traced) places() origin.Places { return origin.Places{Document: o.document(), Find: o.find} }

// document is where an object as a whole comes from: the template, if that is in the tree.
func (o *traced) document() tree.Position {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin()
	if o.rendered != nil && o.isThere(o.rendered[o.index].File) {
		at := tree.Position{Path: o.inTree(o.rendered[o.index].File), Line: 1}
		if d := o.rendered[o.index].Document; d != nil {
			if n := d.Node(); n != nil {
				if places := d.Trace(n); len(places) > 0 && places[0].File != "" {
					at = tree.Position{Path: o.inTree(places[0].File), Line: places[0].Line}
				}
			}
		}
		return at
	}
	return o.chartLine()
}

// isThere reports whether a file of a chart is one of the repository: the chart is a directory
// of it, and the file is not of a dependency that was fetched.
func (o *traced) isThere(file string) bool {
	return o.root.Unit.Artifact == nil && o.tree.Resolve(o.inTree(file)).Err == nil
}

// inTree is the path in the tree of a file of a chart that is there.
func (o *traced) inTree(file string) string {
	_, rest, _ := strings.Cut(file, "/")
	return path.Join(o.root.Dir, rest)
}

// find finds where a field comes from.
func (o *traced) find(field string, part origin.Part) origin.Place {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin()
	fallback := origin.Place{Position: o.chartLine(), Why: "it is made by " + o.name()}
	if o.rendered == nil {
		return fallback
	}
	if place, ok := o.added(field); ok {
		return place
	}
	value, found := origin.Field(o.result.Objects[o.index].Content(), field)
	if place, ok := o.patched(field, value, found); ok {
		return place
	}
	c := clue{field: field, text: textOf(value), found: found && isScalar(value)}
	for _, step := range origin.ParsePath(field) {
		if !step.Indexed {
			c.keys = append(c.keys, step.Key)
		}
	}
	if name, version := origin.SplitImage(c.text); strings.HasSuffix(field, ".image") && part != origin.Whole {
		c.text = map[origin.Part]string{origin.Front: name, origin.Back: strings.TrimLeft(version, ":@")}[part]
	}
	template, literal := o.template(field)
	if lines := o.linesOf(template); template.Line >= 1 && template.Line <= len(lines) {
		c.template, c.around = lines[template.Line-1], around(lines, template.Line)
	}
	if c.found {
		if place, ok := o.decided(c, field, value, template); ok {
			return place
		}
	}
	if template.File != "" && o.isThere(template.File) {
		place := origin.Place{Position: tree.Position{Path: o.inTree(template.File), Line: template.Line}, Evidence: origin.Inferred}
		if literal && found {
			place.Evidence = origin.Marked
		}
		if !found {
			place.Evidence = origin.Nearest
		}
		return place
	}
	if template.File != "" {
		fallback.Why = "it is made by " + o.name() + " " + within(template)
	}
	return fallback
}

// decided finds the value that decides a field.
func (o *traced) decided(c clue, field string, value any, template engine.Place) (origin.Place, bool) {
	for i, l := range c.candidates(o.all) {
		if i == fieldTries {
			break
		}
		a := o.attempt(l)
		if a == nil {
			break
		}
		if !o.changes(a, field, value) {
			continue
		}
		if place, ok := l.written(o.installed); ok {
			return place, true
		}
		why := "it is made by " + o.name()
		if template.File != "" {
			why += " " + within(template)
		}
		if l.layer == ofChart {
			if line, _ := o.defaultLine(l.path); line > 0 {
				why += fmt.Sprintf(" <- values.yaml:%d (default)", line)
			}
		}
		return origin.Place{Position: o.chartLine(), Why: why}, true
	}
	return origin.Place{}, false
}

// changes reports whether a field has another value in an attempt, of an object that is there.
func (o *traced) changes(a *attempt, field string, value any) bool {
	was := o.result.Objects[o.index]
	kind, name := was.KindAndName()
	for _, now := range a.objects {
		k, n := now.KindAndName()
		if now.Index != o.index && (k != kind || n != name) || k != kind {
			continue
		}
		after, found := origin.Field(now.Content(), field)
		return !found || !reflect.DeepEqual(after, value)
	}
	return false
}

// added is where a label or annotation comes from that Helm and its controller add.
func (o *traced) added(field string) (origin.Place, bool) {
	of := ""
	switch {
	case strings.HasPrefix(field, "metadata.labels") && strings.Contains(field, "helm.toolkit.fluxcd.io/namespace"):
		of = "metadata.namespace"
	case strings.HasPrefix(field, "metadata.labels") && strings.Contains(field, "helm.toolkit.fluxcd.io/name"):
		of = "metadata.name"
	case strings.HasPrefix(field, "metadata.annotations") && strings.Contains(field, "meta.helm.sh/release-namespace"), field == "metadata.namespace" && o.namespaceAdded():
		of = "metadata.namespace"
		if o.release.Spec.TargetNamespace != "" {
			of = "spec.targetNamespace"
		}
	case strings.HasPrefix(field, "metadata.annotations") && strings.Contains(field, "meta.helm.sh/release-name"):
		of = "metadata.name"
		if o.release.Spec.ReleaseName != "" {
			of = "spec.releaseName"
		}
	default:
		return origin.Place{}, false
	}
	return origin.Place{Position: o.written(of), Evidence: origin.Inferred}, true
}

// namespaceAdded reports whether the object says no namespace itself.
func (o *traced) namespaceAdded() bool {
	_, found := origin.Field((&render.Object{JSON: o.rendered[o.index].JSON}).Content(), "metadata.namespace")
	return !found
}

// patched is where a field comes from that a post-renderer makes what it is.
func (o *traced) patched(field string, value any, found bool) (origin.Place, bool) {
	if len(o.release.Spec.PostRenderers) == 0 {
		return origin.Place{}, false
	}
	plain := o.withoutPostRenderers()
	if plain.objects == nil || !o.changes(plain, field, value) && found {
		return origin.Place{}, false
	}
	steps := origin.ParsePath(field)
	if len(steps) == 0 {
		return origin.Place{}, false
	}
	key := steps[len(steps)-1].Key
	for i, p := range o.release.Spec.PostRenderers {
		if p.Kustomize == nil {
			continue
		}
		for j, image := range p.Kustomize.Images {
			at := fmt.Sprintf("spec.postRenderers[%d].kustomize.images[%d]", i, j)
			switch text := textOf(value); {
			case key != "image":
			case image.NewTag != "" && strings.HasSuffix(text, ":"+image.NewTag):
				return origin.Place{Position: o.written(at + ".newTag"), Evidence: origin.Inferred}, true
			case image.Digest != "" && strings.HasSuffix(text, image.Digest):
				return origin.Place{Position: o.written(at + ".digest"), Evidence: origin.Inferred}, true
			case image.NewName != "" && strings.HasPrefix(text, image.NewName):
				return origin.Place{Position: o.written(at + ".newName"), Evidence: origin.Inferred}, true
			}
		}
		for j, patch := range p.Kustomize.Patches {
			lines := strings.Split(patch.Patch, "\n")
			for n, line := range lines {
				if !strings.Contains(line, key) {
					continue
				}
				for below := n; below < min(n+4, len(lines)); below++ { // `value:` of an operation
					if text := textOf(value); isScalar(value) && text != "" && strings.HasSuffix(strings.TrimRight(lines[below], " '\"}"), text) {
						n = below
						break
					}
				}
				at := o.written(fmt.Sprintf("spec.postRenderers[%d].kustomize.patches[%d].patch", i, j))
				return origin.Place{Position: o.below(at, n), Evidence: origin.Inferred}, true
			}
		}
	}
	return origin.Place{Position: o.written("spec.postRenderers"), Evidence: origin.Inferred}, found
}

// below is a line of a literal block that begins at a position.
func (o *traced) below(at tree.Position, n int) tree.Position {
	data, err := o.tree.Read(o.tree.RealOr(at.Path))
	if err != nil {
		return at
	}
	lines := strings.Split(string(data), "\n")
	if at.Line < 1 || at.Line+1+n > len(lines) || !strings.Contains(lines[at.Line-1], "|") {
		return at
	}
	return tree.Position{Path: at.Path, Line: at.Line + 1 + n}
}

// template is the part of a template that wrote a field, or what is nearest around it; literal is
// set when it is the text of the template.
func (o *traced) template(field string) (place engine.Place, literal bool) {
	d := o.rendered[o.index].Document
	if d == nil {
		return place, false
	}
	n := d.Node()
	if n == nil {
		return place, false
	}
	found := true
	for steps := origin.ParsePath(field); len(steps) > 0; {
		next, used := child(n, steps)
		if next == nil {
			found = false
			break
		}
		n, steps = next, steps[used:]
	}
	for _, p := range d.Trace(n) {
		if p.File != "" {
			return p, p.Literal && found && n.Kind == yaml.ScalarNode
		}
	}
	return place, false
}

// child goes as many steps of a field path as make a key or an index.
func child(n *yaml.Node, steps []origin.PathStep) (*yaml.Node, int) {
	if s := steps[0]; s.Indexed && n.Kind == yaml.SequenceNode {
		_, value := origin.Child(n, s.Index)
		return value, 1
	}
	var keys []string
	for i, s := range steps {
		keys = append(keys, s.Key)
		if _, value := origin.Child(n, strings.Join(keys, ".")); value != nil {
			return value, i + 1
		}
	}
	return nil, 0
}

// linesOf are the lines of a template.
func (o *traced) linesOf(p engine.Place) []string {
	_, file, _ := strings.Cut(p.File, "/")
	data, err := inChart(o.chart.chart.Chart, file)
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\n")
}

// within is a place in a chart, as messages have it.
func within(p engine.Place) string {
	_, file, _ := strings.Cut(p.File, "/")
	return fmt.Sprintf("%s:%d", file, p.Line)
}
