package suite

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// place is where an object is written: the file and the first line of its document.
type place struct {
	path string
	line int
}

func (p place) mistake(format string, args ...any) error {
	return &strictyaml.Error{Path: p.path, Line: p.line, Column: 1, Message: fmt.Sprintf(format, args...)}
}

// Place returns where an object of the state is written: the file as named in messages, and the first
// line of its document.
func (s *Suite) Place(o *admission.Object) (path string, line int) {
	p := s.places[o]
	return p.path, p.line
}

// checkState refuses objects that would have no effect: params, Namespaces and other objects with the
// name of an earlier one, policies in context.yaml, and objects in policies.yaml that are no policies
// and that nothing reads.
func (l *loader) checkState(s *Suite) error {
	var errs []error
	for _, r := range s.Repeated() {
		if !r.Same && !kinds.IsPolicy(r.GroupVersionKind().GroupKind()) {
			errs = append(errs, s.places[r.Object].mistake("%s is written twice, first at %s:%d: a cluster has one of a name, so remove or rename one", r.Key, r.Path, r.Line))
		}
	}
	for _, o := range s.Context {
		if kinds.IsPolicy(o.GroupVersionKind().GroupKind()) {
			errs = append(errs, s.places[o].mistake("a %s is not in force here: move it to %s", o.GroupVersionKind().Kind, PoliciesFile))
		}
		if o.Name() == "" {
			errs = append(errs, s.places[o].mistake("a %s without metadata.name: what a cluster has already has a name", o.GroupVersionKind().Kind))
		}
	}
	for _, u := range s.Unread() {
		if p := s.places[u.Object]; p.path == l.show(PoliciesFile) {
			errs = append(errs, p.mistake("%s", u.Why))
		}
	}
	return errors.Join(errs...)
}

// Repeated is an object of the state with the name of an earlier one. A policy replaces the earlier one,
// as if applied after it.
type Repeated struct {
	*admission.Object
	Key admission.Key
	// Same is set if both are equal, so that nothing is lost.
	Same bool
	// Path and Line are the place of the earlier one.
	Path string
	Line int
}

// Repeated returns the objects with the name of an earlier one. A file that is named twice is read once.
func (s *Suite) Repeated() []Repeated {
	last := map[admission.Key]*admission.Object{}
	var all []Repeated
	for _, o := range s.state() {
		kind := o.GroupVersionKind()
		key := admission.Key{Group: kind.Group, Kind: kind.Kind, Namespace: o.Namespace(), Name: o.Name()}
		before := last[key]
		switch at := s.places[before]; {
		case before == nil:
			last[key] = o
		case o.Name() == "", at == s.places[o] && before.Equal(o):
		default:
			all = append(all, Repeated{o, key, before.Equal(o), at.path, at.line})
			last[key] = o
		}
	}
	return all
}

// state returns all objects of the state.
func (s *Suite) state() []*admission.Object {
	return append(append([]*admission.Object(nil), s.Context...), s.Policies...)
}

// Unread is an object of the state that has no effect.
type Unread struct {
	*admission.Object
	// Why is the reason, as a sentence without a full stop.
	Why string
}

// Unread returns the objects of policies.yaml and of policy paths that are no policies and do not affect
// verdicts: the API server does not use objects of their kind to decide, and no policy has params of it.
func (s *Suite) Unread() []Unread {
	params := map[schema.GroupKind]bool{}
	written.ParamKinds(params, s.Policies)
	var all []Unread
	for _, o := range s.Policies {
		kind := o.GroupVersionKind()
		effect := kinds.Of(kind.GroupKind()).Effect
		if read := effect != kinds.None && effect != kinds.NotSimulated; !read && !params[kind.GroupKind()] {
			all = append(all, Unread{o, whyUnread(kind)})
		}
	}
	return all
}

// whyUnread returns why objects of a kind have no effect, with advice.
func whyUnread(kind schema.GroupVersionKind) string {
	meant := schema.GroupKind{Group: kinds.GroupAdmission, Kind: kind.Kind}
	switch {
	case kinds.IsPolicy(meant):
		return fmt.Sprintf("there is no %s in %s, but in %s/v1: correct its apiVersion", kind.Kind, kind.GroupVersion(), meant.Group)
	case strings.HasSuffix(kind.Kind, "WebhookConfiguration") && kind.Group == kinds.GroupAdmission:
		return fmt.Sprintf("the webhooks of a %s are not called here: remove it", kind.Kind)
	case kind.Group == kinds.GroupAdmission:
		return fmt.Sprintf("there is no %s in %s%s", kind.Kind, kind.GroupVersion(), strictyaml.Suggestion(kind.Kind,
			[]string{kinds.Policy.Kind, kinds.Binding.Kind, kinds.Mutation.Kind, kinds.MutationBinding.Kind}))
	}
	return fmt.Sprintf("nothing reads a %s of %s here, which is no policy of the API server: remove it, or name its kind as the paramKind of a policy", kind.Kind, kind.GroupVersion())
}
