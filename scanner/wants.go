package scanner

import (
	"bytes"
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"
)

// wants is what an API server looks at to judge the change: objects of some kinds
// and names, that may be in roots which were not rendered yet.
type wants struct {
	// everything is set when the change reaches objects that it does not touch.
	everything bool
	mentions   []render.Mention
}

func (w *wants) add(m render.Mention) { w.mentions = append(w.mentions, m) }

// kind wants all objects of a kind.
func (w *wants) kind(kind string) { w.add(render.Mention{Kind: kind}) }

// named wants the objects of a kind that have a name.
func (w *wants) named(kind, name string) { w.add(render.Mention{Kind: kind, Name: name}) }

// looks is what was rendered so far, sorted by what it does to a request.
type looks struct {
	policies, bindings, definitions []*admission.Object
	// params are the kinds that policies take as params.
	paramKinds map[schema.GroupKind]bool
	// asking are the policies that ask the authorizer.
	asking  []*admission.Object
	builtin *admission.Cluster
}

// wants tells what has to be known of other roots, going by what was rendered so
// far. It may be more when more is rendered.
func (s *scan) wants() wants {
	w := wants{}
	known, changed := s.knownObjects(), s.changedObjects()
	if len(changed) == 0 {
		s.partsWants(&w)
		return w
	}
	// Policies, bindings, and what else would change requests, which a report mentions.
	w.add(render.Mention{Group: kinds.GroupAdmission})
	l := newLooks(known)
	changed = append(changed, l.otherVersions(changed)...)
	if w.everything = slices.ContainsFunc(changed, l.reachesAll); w.everything {
		return w
	}
	l.rivals(&w, changed)
	subjects := append(l.reached(&w, changed, known), changed...)
	for _, o := range subjects {
		l.subject(&w, o)
	}
	l.params(&w)
	if slices.ContainsFunc(subjects, l.asksAuthorizer) {
		for _, k := range kinds.With(kinds.Authorizes) {
			w.kind(k.Kind)
		}
	}
	return w
}

// partsWants wants what is known of policies in refused roots, which is all that is
// judged where no object changed.
func (s *scan) partsWants(w *wants) {
	if len(s.refusedRoots(s.head, true)) > 0 {
		w.kind(kinds.Policy.Kind)
		w.kind(kinds.Binding.Kind)
	}
}

// knownObjects are all objects that were rendered so far or given.
func (s *scan) knownObjects() []*admission.Object {
	known := slices.Clone(s.extras)
	for _, r := range s.rendered() {
		known = append(known, r.objects...)
	}
	for _, from := range []*side{s.head, s.base} {
		for _, results := range from.given {
			for _, r := range results {
				known = append(known, r.objects...)
			}
		}
	}
	return known
}

func newLooks(known []*admission.Object) *looks {
	l := &looks{paramKinds: map[schema.GroupKind]bool{}, builtin: admission.NewCluster(admission.ClusterOptions{})}
	for _, o := range known {
		switch o.GroupVersionKind().GroupKind() {
		case kinds.Policy:
			l.policies = append(l.policies, o)
			if mentions(o, "authorizer") {
				l.asking = append(l.asking, o)
			}
		case kinds.Binding:
			l.bindings = append(l.bindings, o)
		case kinds.Definition:
			l.definitions = append(l.definitions, o)
		}
	}
	paramKinds(l.paramKinds, l.policies)
	return l
}

// reachesAll reports whether a changed object may make any other object be judged
// anew: policies do, and what they look at.
func (l *looks) reachesAll(o *admission.Object) bool {
	kind := o.GroupVersionKind().GroupKind()
	switch {
	case kinds.IsPolicy(kind) || l.paramKinds[kind]:
		return true
	case kind == kinds.Definition:
		return l.paramKinds[definedKind(o)]
	case kind == kinds.Namespace:
		return o.Name() == corev1.NamespaceDefault // where objects live that do not say
	}
	return len(l.asking) > 0 && kinds.Of(kind).Effect == kinds.Authorizes
}

// rivals wants the other versions of changed objects that govern: whether what a
// root sees of them changed depends on all.
func (l *looks) rivals(w *wants, changed []*admission.Object) {
	for _, o := range changed {
		if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Governs {
			w.named(kind.Kind, o.Name())
		}
	}
}

// otherVersions are the definitions that have the name of a changed one: the kinds
// they define are judged anew as well.
func (l *looks) otherVersions(changed []*admission.Object) []*admission.Object {
	names := map[string]bool{}
	for _, o := range changed {
		if o.GroupVersionKind().GroupKind() == kinds.Definition {
			names[o.Name()] = true
		}
	}
	var others []*admission.Object
	for _, o := range l.definitions {
		if names[o.Name()] && !slices.Contains(changed, o) {
			others = append(others, o)
		}
	}
	return others
}

// reached wants the objects that changed namespaces and definitions make be judged
// anew, and gives those known so far.
func (l *looks) reached(w *wants, changed, known []*admission.Object) []*admission.Object {
	namespaces, defined := map[string]bool{}, map[schema.GroupKind]bool{}
	for _, o := range changed {
		switch o.GroupVersionKind().GroupKind() {
		case kinds.Namespace:
			namespaces[o.Name()] = true
			w.add(render.Mention{Word: o.Name()})
		case kinds.Definition:
			defined[definedKind(o)] = true
			w.kind(definedKind(o).Kind)
			w.add(render.Mention{Kind: kinds.Definition.Kind, Word: definedKind(o).Kind}) // others of the kind
		}
	}
	var reached []*admission.Object
	for _, o := range known {
		kind := o.GroupVersionKind().GroupKind()
		if namespaces[o.Namespace()] || defined[kind] || kind == kinds.Namespace && namespaces[o.Name()] {
			reached = append(reached, o)
		}
	}
	return reached
}

// subject wants what is looked at to judge a request about an object.
func (l *looks) subject(w *wants, o *admission.Object) {
	kind := o.GroupVersionKind()
	namespace := l.builtin.Key(o).Namespace
	switch _, builtin := l.builtin.Resource(kind); {
	case kind.GroupKind() == kinds.Namespace:
		w.named(kinds.Namespace.Kind, o.Name())
	case namespace != "":
		w.named(kinds.Namespace.Kind, namespace)
	case !builtin: // its definition may say that it lives in one
		w.named(kinds.Namespace.Kind, corev1.NamespaceDefault)
	}
	l.definition(w, kind)
	l.plugins(w, o, namespace)
}

// definition wants the CustomResourceDefinitions of a kind, and others by their
// names: they may rather be those that count.
func (l *looks) definition(w *wants, kind schema.GroupVersionKind) {
	if _, builtin := l.builtin.Resource(kind); builtin {
		return
	}
	w.add(render.Mention{Kind: kinds.Definition.Kind, Word: kind.Kind})
	for _, o := range l.definitions {
		if definedKind(o) == kind.GroupKind() {
			w.named(kinds.Definition.Kind, o.Name())
		}
	}
}

// plugins wants what the admission plugins of the API server look up for an object.
func (l *looks) plugins(w *wants, o *admission.Object, namespace string) {
	data, _ := o.JSON() // it was rendered, so it encodes
	has := func(field string) bool { return bytes.Contains(data, []byte(`"`+field+`"`)) }
	for _, k := range kinds.With(kinds.Completes) {
		switch {
		case !k.NeededBy.Describes(o.GroupVersionKind().Kind, has):
		case k.NeededBy.InNamespace:
			w.add(render.Mention{Kind: k.Kind, Word: orAny(namespace)})
		default:
			w.kind(k.Kind)
		}
	}
}

// orAny is a namespace that objects in it name; no word for the default one, which
// they may leave out.
func orAny(namespace string) string {
	if namespace == corev1.NamespaceDefault {
		return ""
	}
	return namespace
}

// params wants what policies take as params, and what defines their kinds.
func (l *looks) params(w *wants) {
	for _, p := range l.policies {
		ref := child(child(p.Content(), "spec"), "paramKind")
		kind := schema.FromAPIVersionAndKind(text(ref, "apiVersion"), text(ref, "kind"))
		if kind.Kind == "" {
			continue
		}
		l.definition(w, kind)
		for _, b := range l.bindings {
			if ref := child(child(b.Content(), "spec"), "paramRef"); ref != nil && boundPolicy(b) == p.Name() {
				w.named(kind.Kind, text(ref, "name"))
			}
		}
	}
}

// asksAuthorizer reports whether a policy that asks the authorizer may match a
// request about an object, or about what is created of it, going by its rules only.
func (l *looks) asksAuthorizer(o *admission.Object) bool {
	kind := o.GroupVersionKind()
	resources := admission.GeneratedBy(kind.GroupKind())
	r, _ := l.builtin.Resource(kind) // of other kinds, any
	resources = append(slices.Clone(resources), schema.GroupResource{Group: kind.Group, Resource: r.Resource})
	return slices.ContainsFunc(l.asking, func(p *admission.Object) bool {
		return slices.ContainsFunc(resourceRules(p), func(rule v1.NamedRuleWithOperations) bool {
			return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
				return ruleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
			})
		})
	})
}

// resourceRules are the rules of a policy, taken to be for all operations.
func resourceRules(p *admission.Object) []v1.NamedRuleWithOperations {
	var rules []v1.NamedRuleWithOperations
	list, _ := child(child(p.Content(), "spec"), "matchConstraints")["resourceRules"].([]any)
	for _, item := range list {
		rule, _ := item.(map[string]any)
		r := v1.NamedRuleWithOperations{}
		r.Operations = []v1.OperationType{v1.OperationAll}
		r.APIGroups, r.Resources = stringsOf(rule["apiGroups"]), stringsOf(rule["resources"])
		rules = append(rules, r)
	}
	return rules
}

// stringsOf are the strings in a list.
func stringsOf(value any) []string {
	var all []string
	list, _ := value.([]any)
	for _, item := range list {
		s, _ := item.(string)
		all = append(all, s)
	}
	return all
}

// renderAllGiven renders what the configuration takes policies and context from, of
// both sides.
func (s *scan) renderAllGiven(ctx context.Context) error {
	for _, from := range []*side{s.head, s.base} {
		for _, name := range s.in.Config.GivenPaths() {
			if _, err := from.renderGiven(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}
