package plan

import (
	"bytes"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// dependencies are what an API server looks at to judge the change: objects of some
// kinds and names, that may be in roots which were not rendered yet.
type dependencies struct {
	// everything is set when the change reaches objects that it does not touch.
	everything bool
	mentions   []render.Mention
}

func (d *dependencies) add(m render.Mention) { d.mentions = append(d.mentions, m) }

// kind adds all objects of a kind.
func (d *dependencies) kind(kind string) { d.add(render.Mention{Kind: kind}) }

// named adds the objects of a kind that have a name.
func (d *dependencies) named(kind, name string) { d.add(render.Mention{Kind: kind, Name: name}) }

// governing holds what was rendered so far, by what it does to a request.
type governing struct {
	policies, bindings, definitions []*admission.Object
	// bound are the bindings by the names of their policies, and taken the policies by the kinds of
	// their params.
	bound map[string][]*admission.Object
	taken map[schema.GroupKind][]*admission.Object
	// authorizing are the policies that use the authorizer.
	authorizing []*admission.Object
	builtin     *admission.Cluster
	// assumed are where objects may live that name no namespace.
	assumed []string
}

// dependencies returns what has to be known of other roots, going by what was rendered
// so far. It may be more when more is rendered.
func (p *Plan) dependencies() dependencies {
	d := dependencies{}
	known, changed := p.knownObjects(), p.ChangedObjects()
	if len(changed) == 0 {
		p.policiesOfParts(&d)
		return d
	}
	// Policies, bindings, and what else would change requests, which a report mentions.
	d.add(render.Mention{Group: kinds.GroupAdmission})
	g := newGoverning(known, p.Namespaces)
	changed = append(changed, g.otherVersions(changed)...)
	var anew []*admission.Object
	if p.Base != nil {
		if anew, d.everything = g.judgeAnew(changed); d.everything {
			return d
		}
		g.matchedBy(&d, anew)
	}
	g.versions(&d, changed)
	subjects := changed
	if p.Base != nil { // else what is to be judged is rendered
		subjects = append(g.reached(&d, changed, known, anew), changed...)
	}
	for _, o := range subjects {
		g.subject(&d, o)
	}
	g.params(&d, subjects)
	releases(&d, changed)
	if p.Rights || len(g.kindsMatched(g.authorizing, subjects)) > 0 {
		for k := range kinds.With(kinds.Authorizes) {
			d.kind(k.Kind)
		}
	}
	return d
}

// policiesOfParts adds what is known of policies in refused roots, which is all that is
// judged where no object changed.
func (p *Plan) policiesOfParts(d *dependencies) {
	if len(p.RefusedRoots(p.Head, true)) > 0 {
		for _, kind := range []schema.GroupKind{kinds.Policy, kinds.Binding, kinds.Mutation, kinds.MutationBinding} {
			d.kind(kind.Kind)
		}
	}
}

// knownObjects are all objects that were rendered so far or given.
func (p *Plan) knownObjects() []*admission.Object {
	known := slices.Clone(p.Extras)
	for _, r := range p.Rendered() {
		known = append(known, r.Objects...)
	}
	for _, from := range p.Trees() {
		for _, results := range from.Given {
			for _, r := range results {
				known = append(known, r.Objects...)
			}
		}
	}
	return known
}

func newGoverning(known []*admission.Object, namespaces []string) *governing {
	g := &governing{
		builtin: admission.NewCluster(admission.ClusterOptions{}),
		assumed: append([]string{corev1.NamespaceDefault}, namespaces...),
		bound:   map[string][]*admission.Object{}, taken: map[schema.GroupKind][]*admission.Object{},
	}
	for _, o := range known {
		switch o.GroupVersionKind().GroupKind() {
		case kinds.Policy, kinds.Mutation:
			g.policies = append(g.policies, o)
			if kind, ok := written.ParamKind(o); ok {
				g.taken[kind.GroupKind()] = append(g.taken[kind.GroupKind()], o)
			}
			if written.Mentions(o, "authorizer") {
				g.authorizing = append(g.authorizing, o)
			}
		case kinds.Binding, kinds.MutationBinding:
			g.bindings = append(g.bindings, o)
			g.bound[written.BoundPolicy(o)] = append(g.bound[written.BoundPolicy(o)], o)
		case kinds.Definition:
			g.definitions = append(g.definitions, o)
		}
	}
	return g
}

// versions adds the other versions of changed objects that govern: whether what a
// root sees of them changed depends on all.
func (g *governing) versions(d *dependencies, changed []*admission.Object) {
	for _, o := range changed {
		if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Governs {
			d.named(kind.Kind, o.Name())
			if kind == kinds.Definition {
				d.add(render.Mention{Kind: kind.Kind, Word: o.Defined().Kind}) // others of the kind
			}
		}
	}
}

// otherVersions are the definitions that have the name of a changed one: the kinds
// they define are judged anew as well.
func (g *governing) otherVersions(changed []*admission.Object) []*admission.Object {
	names := map[string]bool{}
	for _, o := range changed {
		if o.GroupVersionKind().GroupKind() == kinds.Definition {
			names[o.Name()] = true
		}
	}
	var others []*admission.Object
	for _, o := range g.definitions {
		if names[o.Name()] && !slices.Contains(changed, o) {
			others = append(others, o)
		}
	}
	return others
}

// reached adds the objects that changed namespaces and definitions make be judged
// anew, and returns those known so far, with those that policies may match which judge anew.
func (g *governing) reached(d *dependencies, changed, known, anew []*admission.Object) []*admission.Object {
	namespaces, defined := map[string]bool{}, map[schema.GroupKind]bool{}
	for _, o := range changed {
		switch o.GroupVersionKind().GroupKind() {
		case kinds.Namespace:
			namespaces[o.Name()] = true
			d.add(render.Mention{Word: o.Name()})
		case kinds.Definition:
			defined[o.Defined()] = true
			d.kind(o.Defined().Kind)
		}
	}
	var reached []*admission.Object
	matched := g.kindsMatched(anew, known)
	for _, o := range known {
		kind := o.GroupVersionKind().GroupKind()
		if namespaces[o.Namespace()] || defined[kind] || kind == kinds.Namespace && namespaces[o.Name()] || matched[o.GroupVersionKind()] {
			reached = append(reached, o)
		}
	}
	return reached
}

// subject adds what is looked at to judge a request about an object.
func (g *governing) subject(d *dependencies, o *admission.Object) {
	kind := o.GroupVersionKind()
	namespace := g.builtin.Key(o).Namespace
	switch _, builtin := g.builtin.Resource(kind); {
	case kind.GroupKind() == kinds.Namespace:
		d.named(kinds.Namespace.Kind, o.Name())
	case o.Namespace() == "" && (namespace != "" || !builtin): // its definition may say that it lives in one
		for _, name := range g.assumed {
			d.named(kinds.Namespace.Kind, name)
		}
	case namespace != "":
		d.named(kinds.Namespace.Kind, namespace)
	}
	g.definition(d, kind)
	g.plugins(d, o, namespace)
}

// definition adds the CustomResourceDefinitions of a kind, and others by their
// names: they may rather be those that count.
func (g *governing) definition(d *dependencies, kind schema.GroupVersionKind) {
	if _, builtin := g.builtin.Resource(kind); builtin {
		return
	}
	d.add(render.Mention{Kind: kinds.Definition.Kind, Word: kind.Kind})
	for _, o := range g.definitions {
		if o.Defined() == kind.GroupKind() {
			d.named(kinds.Definition.Kind, o.Name())
		}
	}
}

// plugins adds what the admission plugins of the API server look up for an object.
func (g *governing) plugins(d *dependencies, o *admission.Object, namespace string) {
	data, _ := o.JSON() // it was rendered, so it encodes
	has := func(field string) bool { return bytes.Contains(data, []byte(`"`+field+`"`)) }
	for k := range kinds.With(kinds.Completes) {
		switch {
		case !k.NeededBy.Describes(o.GroupVersionKind().Kind, has):
		case k.NeededBy.InNamespace:
			d.add(render.Mention{Kind: k.Kind, Word: g.orAny(namespace)})
		default:
			d.kind(k.Kind)
		}
	}
}

// orAny is a namespace that objects in it name; no word for one that they may leave out.
func (g *governing) orAny(namespace string) string {
	if slices.Contains(g.assumed, namespace) {
		return ""
	}
	return namespace
}

// params adds what policies that may match some of the subjects take as params, and what
// defines the kinds of all.
func (g *governing) params(d *dependencies, subjects []*admission.Object) {
	subjects = ofEachKind(subjects)
	for _, p := range g.policies {
		kind, ok := written.ParamKind(p)
		if !ok {
			continue
		}
		g.definition(d, kind)
		if len(g.kindsMatched([]*admission.Object{p}, subjects)) == 0 {
			continue
		}
		for _, b := range g.bound[p.Name()] {
			if name, ok := written.ParamName(b); ok {
				d.named(kind.Kind, name)
			}
		}
	}
}

// releases adds the HelmReleases that may take their values from changed ConfigMaps and
// Secrets: what their charts make changes with them.
func releases(d *dependencies, changed []*admission.Object) {
	for _, o := range changed {
		if kind := o.GroupVersionKind(); kind.Group == "" && (kind.Kind == "ConfigMap" || kind.Kind == "Secret") {
			d.add(render.Mention{Kind: "HelmRelease", Word: o.Name()})
		}
	}
}

// renderGiven renders what the configuration takes policies and context from, of
// both sides.
func (p *Plan) renderGiven(ctx context.Context) error {
	for _, from := range p.Trees() {
		for _, name := range p.Given {
			if _, err := from.RenderGiven(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}
