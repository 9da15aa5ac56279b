package suite

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
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
		if !kinds.IsPolicy(r.GroupVersionKind().GroupKind()) {
			errs = append(errs, s.places[r.Object].mistake("%s is written twice, first at %s:%d: a cluster has one of a name, so remove or rename one", r.Key, r.Path, r.Line))
		}
	}
	for _, o := range s.Context {
		if kinds.IsPolicy(o.GroupVersionKind().GroupKind()) {
			errs = append(errs, s.places[o].mistake("a %s is not in force here: move it to %s", o.GroupVersionKind().Kind, PoliciesFile))
		}
	}
	for _, u := range s.Unread() {
		if p := s.places[u.Object]; p.path == l.show(PoliciesFile) {
			errs = append(errs, p.mistake("%s: remove it", u.Why))
		}
	}
	return errors.Join(errs...)
}

// Repeated is an object of the state that another one before it has the name of. A policy is taken to
// be applied after that one: it counts.
type Repeated struct {
	*admission.Object
	Key admission.Key
	// Path and Line are where the one before is written.
	Path string
	Line int
}

// Repeated returns the objects that others before them have the name of. A file that is named twice is
// read once.
func (s *Suite) Repeated() []Repeated {
	first := map[admission.Key]*admission.Object{}
	var all []Repeated
	for _, o := range s.state() {
		kind := o.GroupVersionKind()
		key := admission.Key{Group: kind.Group, Kind: kind.Kind, Namespace: o.Namespace(), Name: o.Name()}
		before := first[key]
		switch at := s.places[before]; {
		case before == nil:
			first[key] = o
		case o.Name() == "", at == s.places[o] && before.Equal(o):
		default:
			all = append(all, Repeated{o, key, at.path, at.line})
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
	policy.ParamKinds(params, s.Policies)
	var all []Unread
	for _, o := range s.Policies {
		kind := o.GroupVersionKind()
		switch effect := kinds.Of(kind.GroupKind()).Effect; {
		case effect == kinds.NotSimulated && strings.HasSuffix(kind.Kind, "WebhookConfiguration"):
			all = append(all, Unread{o, fmt.Sprintf("the webhooks of a %s are not called here", kind.Kind)})
		case params[kind.GroupKind()], effect != kinds.None && effect != kinds.NotSimulated:
		default:
			all = append(all, Unread{o, fmt.Sprintf("nothing reads a %s of %s here: it is neither a policy of the API server nor a binding, and no policy has params of this kind", kind.Kind, kind.GroupVersion())})
		}
	}
	return all
}
