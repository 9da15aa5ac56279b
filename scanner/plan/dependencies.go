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

// dependencies are the objects that an API server reads to judge the change, by kind and name,
// which may be in roots that were not rendered yet.
type dependencies struct {
	// everything is set if the change affects objects that it does not touch.
	everything bool
	mentions   []render.Mention
}

func (d *dependencies) add(m render.Mention) { d.mentions = append(d.mentions, m) }

// kind adds all objects of a kind.
func (d *dependencies) kind(kind string) { d.add(render.Mention{Kind: kind}) }

// named adds the objects with a kind and name.
func (d *dependencies) named(kind, name string) { d.add(render.Mention{Kind: kind, Name: name}) }

// governing holds the objects rendered so far that decide verdicts.
type governing struct {
	policies, bindings, definitions []*admission.Object
	// bound maps names of policies to their bindings, and taken maps kinds of params to the
	// policies that use them.
	bound map[string][]*admission.Object
	taken map[schema.GroupKind][]*admission.Object
	// authorizing are the policies that use the authorizer.
	authorizing []*admission.Object
	builtin     *admission.Cluster
	// assumed are the possible namespaces of objects that name none.
	assumed []string
}

// dependencies returns what has to be known of other roots, based on the objects rendered so far.
// It may return more once more is rendered.
func (p *Plan) dependencies() dependencies {
	d := dependencies{}
	known, changed := p.knownObjects(), p.ChangedObjects()
	if len(changed) == 0 {
		p.policiesOfParts(&d)
		return d
	}
	// Policies, bindings, and webhook configurations, which a report mentions.
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
	if p.Base != nil { // without a base the judged objects are rendered
		subjects = slices.Concat(g.reached(&d, changed, known, anew), p.ObjectsOfOtherUsers(), changed)
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

// policiesOfParts adds policies and bindings if roots were refused. They are all that is judged if
// no object changed.
func (p *Plan) policiesOfParts(d *dependencies) {
	if len(p.RefusedRoots(p.Head, true)) > 0 {
		for _, kind := range []schema.GroupKind{kinds.Policy, kinds.Binding, kinds.Mutation, kinds.MutationBinding} {
			d.kind(kind.Kind)
		}
	}
}

// knownObjects returns all objects that were rendered so far or given.
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

// versions adds the other versions of changed objects that decide verdicts: whether a root sees a
// change depends on all versions.
func (g *governing) versions(d *dependencies, changed []*admission.Object) {
	for _, o := range changed {
		if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Governs {
			d.named(kind.Kind, o.Name())
			if kind == kinds.Definition {
				d.add(render.Mention{Kind: kind.Kind, Word: o.Defined().Kind}) // other definitions of the kind
			}
		}
	}
}

// otherVersions returns the definitions with the name of a changed one: objects of the kinds they
// define are judged again too.
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

// reached adds the objects that have to be judged again because of changed namespaces and
// definitions. It returns those known so far, and those that the policies in anew may match.
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

// subject adds the objects that an API server reads to judge a request about an object.
func (g *governing) subject(d *dependencies, o *admission.Object) {
	kind := o.GroupVersionKind()
	namespace := g.builtin.Key(o).Namespace
	switch _, builtin := g.builtin.Resource(kind); {
	case kind.GroupKind() == kinds.Namespace:
		d.named(kinds.Namespace.Kind, o.Name())
	case o.Namespace() == "" && (namespace != "" || !builtin): // its definition may make it namespaced
		for _, name := range g.assumed {
			d.named(kinds.Namespace.Kind, name)
		}
	case namespace != "":
		d.named(kinds.Namespace.Kind, namespace)
	}
	g.definition(d, kind)
	g.plugins(d, o, namespace)
}

// definition adds the CustomResourceDefinitions of a kind, and all versions of them by their names,
// since the server may use another version.
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

// plugins adds the objects that admission plugins of the API server look up for an object.
func (g *governing) plugins(d *dependencies, o *admission.Object, namespace string) {
	data, _ := o.JSON() // a rendered object always encodes
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

// orAny returns a namespace that the text of its objects contains; "" if objects in it may omit it.
func (g *governing) orAny(namespace string) string {
	if slices.Contains(g.assumed, namespace) {
		return ""
	}
	return namespace
}

// params adds the params of policies that may match some of the subjects, and the definitions of
// all param kinds.
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

// releases adds the HelmReleases that may take values from changed ConfigMaps and Secrets, since
// their objects change too.
func releases(d *dependencies, changed []*admission.Object) {
	for _, o := range changed {
		if kind := o.GroupVersionKind(); kind.Group == "" && (kind.Kind == "ConfigMap" || kind.Kind == "Secret") {
			d.add(render.Mention{Kind: "HelmRelease", Word: o.Name()})
		}
	}
}

// renderGiven renders the configured paths of policies and context, on both sides.
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
