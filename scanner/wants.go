package scanner

import (
	"context"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// wants is what an API server looks at to judge the change: objects of some kinds
// and names, that may be in roots which were not rendered yet.
type wants struct {
	// everything is set when the change reaches objects that it does not touch.
	everything bool
	mentions   []render.Mention
}

func (w *wants) kind(kind, word string) {
	w.mentions = append(w.mentions, render.Mention{Kind: kind, Word: word})
}

// looks is what was rendered so far, sorted by what it does to a request.
type looks struct {
	policies, bindings []*admission.Object
	// params are the kinds that policies take as params.
	params     map[schema.GroupKind]bool
	authorizer bool
	builtin    *admission.Cluster
}

// wants tells what has to be known of other roots, going by what was rendered so
// far. It may be more when more is rendered.
func (s *scan) wants() wants {
	w := wants{}
	w.kind(policyKind.Kind, "")
	w.kind(bindingKind.Kind, "")
	known := s.knownObjects()
	l := newLooks(known)
	changed := s.changedObjects()
	if w.everything = slices.ContainsFunc(changed, l.reachesAll); w.everything || len(changed) == 0 {
		return w
	}
	for _, o := range append(l.reached(&w, changed, known), changed...) {
		l.subject(&w, o)
	}
	l.judges(&w)
	return w
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
	l := &looks{params: map[schema.GroupKind]bool{}, builtin: admission.NewCluster(admission.ClusterOptions{})}
	for _, o := range known {
		switch o.GroupVersionKind().GroupKind() {
		case policyKind:
			l.policies = append(l.policies, o)
			l.authorizer = l.authorizer || mentions(o, "authorizer")
		case bindingKind:
			l.bindings = append(l.bindings, o)
		}
	}
	paramKinds(l.params, l.policies)
	return l
}

// reachesAll reports whether a changed object may make any other object be judged
// anew: policies do, and what they look at.
func (l *looks) reachesAll(o *admission.Object) bool {
	kind := o.GroupVersionKind().GroupKind()
	switch {
	case isPolicy(kind) || l.params[kind]:
		return true
	case kind == definitionKind:
		return l.params[definedKind(o)]
	case kind == namespaceKind:
		return o.Name() == corev1.NamespaceDefault // where objects live that do not say
	}
	return l.authorizer && kind.Group == groupRBAC
}

// reached wants the objects that changed namespaces and definitions make be judged
// anew, and gives those known so far.
func (l *looks) reached(w *wants, changed, known []*admission.Object) []*admission.Object {
	namespaces, kinds := map[string]bool{}, map[schema.GroupKind]bool{}
	for _, o := range changed {
		switch o.GroupVersionKind().GroupKind() {
		case namespaceKind:
			namespaces[o.Name()] = true
			w.kind("", o.Name())
		case definitionKind:
			kinds[definedKind(o)] = true
			w.kind(definedKind(o).Kind, "")
		}
	}
	var reached []*admission.Object
	for _, o := range known {
		if namespaces[o.Namespace()] || kinds[o.GroupVersionKind().GroupKind()] {
			reached = append(reached, o)
		}
	}
	return reached
}

// subject wants what is looked at to judge a request about an object.
func (l *looks) subject(w *wants, o *admission.Object) {
	kind := o.GroupVersionKind()
	l.definition(w, kind)
	key := l.builtin.Key(o)
	if key.Namespace != "" {
		w.kind(namespaceKind.Kind, key.Namespace)
	}
	if kind.GroupKind() == namespaceKind {
		w.kind(namespaceKind.Kind, o.Name())
	}
	l.plugins(w, o, key.Namespace)
}

// definition wants the CustomResourceDefinition of a kind.
func (l *looks) definition(w *wants, kind schema.GroupVersionKind) {
	if !admission.BuiltinGroup(kind.Group) {
		w.kind(definitionKind.Kind, kind.Kind)
	}
}

// plugins wants what the admission plugins of the API server look at. What a pod
// needs is looked for whatever has the fields: its workload's kind may be any.
func (l *looks) plugins(w *wants, o *admission.Object, namespace string) {
	data := jsonOf(o)
	has := func(field string) bool { return strings.Contains(data, `"`+field+`"`) }
	if has("containers") {
		w.kind("PriorityClass", "")
	}
	if has("containers") || has("resources") {
		w.kind("LimitRange", orAny(namespace))
	}
	for field, kind := range map[string]string{"runtimeClassName": "RuntimeClass", "nodeName": "Node"} {
		if has(field) {
			w.kind(kind, "")
		}
	}
	switch o.GroupVersionKind().Kind {
	case "PersistentVolumeClaim":
		w.kind("StorageClass", "")
	case "Ingress":
		w.kind("IngressClass", "")
	case "Binding":
		w.kind("Node", "")
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

// judges wants what policies look at besides the object, and what would change
// requests on their way, which a report mentions.
func (l *looks) judges(w *wants) {
	for _, p := range l.policies {
		kind, ok := paramKind(p)
		if !ok {
			continue
		}
		l.definition(w, kind.WithVersion(""))
		for _, b := range l.bindings {
			if ref := child(child(b.Content(), "spec"), "paramRef"); ref != nil && boundPolicy(b) == p.Name() {
				w.kind(kind.Kind, text(ref, "name"))
			}
		}
	}
	if l.authorizer {
		for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} {
			w.kind(kind, "")
		}
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"} {
		w.kind(kind, "")
	}
}

// renderAllGiven renders what the configuration takes policies and context from, of
// both sides.
func (s *scan) renderAllGiven(ctx context.Context) error {
	for _, from := range []*side{s.head, s.base} {
		for _, name := range s.in.Config.given() {
			if _, err := from.renderGiven(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}
