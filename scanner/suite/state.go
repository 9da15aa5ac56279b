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

// place is where an object is written: a file, and the first line of its document.
type place struct {
	path string
	line int
}

func (p place) mistake(format string, args ...any) error {
	return &strictyaml.Error{Path: p.path, Line: p.line, Column: 1, Message: fmt.Sprintf(format, args...)}
}

// Place returns where an object of the state is written: a file as messages name it, and the first
// line of its document.
func (s *Suite) Place(o *admission.Object) (path string, line int) {
	p := s.places[o]
	return p.path, p.line
}

// checkState refuses what would be lost: params, Namespaces and the like that another one has the name
// of, policies in the file of what the cluster has already, and in policies.yaml what neither judges nor
// is read.
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

// Repeated is an object of the state that another one before it has the name of. A policy is taken to
// be applied after that one: it counts.
type Repeated struct {
	*admission.Object
	Key admission.Key
	// Same is set where both are the same, so that nothing is lost.
	Same bool
	// Path and Line are where the one before is written.
	Path string
	Line int
}

// Repeated returns the objects that others before them have the name of. A file that is named twice is
// read once.
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

// Unread is an object of the state that nothing reads.
type Unread struct {
	*admission.Object
	// Why says so, as a sentence without its end.
	Why string
}

// Unread returns the objects among those of policies.yaml and of the paths beside it that are no
// policies, and that nobody reads to judge others: an API server does not, and no policy has params of
// their kind.
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

// whyUnread says why nothing reads an object of a kind, and what was meant if it is hardly misspelt.
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
