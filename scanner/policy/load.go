package policy

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sort"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/mistyped"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Policy is a policy that the API server accepts.
type Policy struct {
	*v1.ValidatingAdmissionPolicy
	Source *admission.Object
}

// MatchIsUnknown reports whether the match constraints of a policy are unknown, at least in part.
func MatchIsUnknown(source *admission.Object) bool {
	match := []string{"spec", "matchConstraints"}
	return unknown.At(match, source.Unknown) || unknown.Below(match, source.Unknown)
}

// Binding is a binding that the API server accepts.
type Binding struct {
	*v1.ValidatingAdmissionPolicyBinding
	Source *admission.Object
}

// Set is the policies and bindings of a cluster, each sorted by name.
type Set struct {
	Policies []*Policy
	Bindings []*Binding
	// Mutations are the MutatingAdmissionPolicies, MutationBindings their bindings.
	Mutations        []*Mutation
	MutationBindings []*MutationBinding
}

// Only returns the named policies and their bindings.
func (s *Set) Only(names map[string]bool) *Set {
	limited := &Set{Mutations: s.Mutations, MutationBindings: s.MutationBindings}
	for _, p := range s.Policies {
		if names[p.Name] {
			limited.Policies = append(limited.Policies, p)
		}
	}
	for _, b := range s.Bindings {
		if names[b.Spec.PolicyName] {
			limited.Bindings = append(limited.Bindings, b)
		}
	}
	return limited
}

// Refusal is a policy or binding that the API server would not create. It has no effect.
type Refusal struct {
	Object *admission.Object
	// Message is the server's.
	Message string
	Reason  metav1.StatusReason
	Code    int32
	// Fields are the paths of the invalid fields, like spec.validations[0].expression; empty when the
	// object as a whole is invalid.
	Fields []string
	// Causes describe the mistakes in Fields; there are none if the object cannot be read.
	Causes []metav1.StatusCause
	// Unknown is set when unknown fields decide whether the API server would create the object.
	Unknown bool
}

// IsPolicy reports whether an object is a validating or mutating policy or binding, of any version.
func IsPolicy(o *admission.Object) bool {
	return kinds.IsPolicy(o.GroupVersionKind().GroupKind())
}

// Load returns the policies and bindings among objects that an API server with the cluster's state
// would accept from the user, and the refusals of others. All three API versions are read, even those
// that a server no longer serves.
func Load(ctx context.Context, cluster *admission.Cluster, u user.Info, objects []*admission.Object) (*Set, []Refusal) {
	return NewLoader(u, nil).Load(ctx, cluster, objects)
}

// Loader loads policies for a user as Load does. Each cluster accepts an object once, in however many
// lists it is: where many roots have a policy of one name, each has a list with all others. It is not
// safe for concurrent use.
type Loader struct {
	user     user.Info
	by       func(*admission.Object) apply.Applier
	accepted map[acceptanceKey]acceptance
}

// acceptanceKey is an object and the cluster that accepts it.
type acceptanceKey struct {
	cluster *admission.Cluster
	object  *admission.Object
}

// NewLoader returns a Loader. by returns the tool that applies an object, "" if none does; it may be
// nil.
func NewLoader(u user.Info, by func(*admission.Object) apply.Applier) *Loader {
	if by == nil {
		by = func(*admission.Object) apply.Applier { return "" }
	}
	return &Loader{user: u, by: by, accepted: map[acceptanceKey]acceptance{}}
}

// accept prepares the creation of the policies and bindings among objects, and returns the result for
// each.
func (l *Loader) accept(ctx context.Context, cluster *admission.Cluster, objects []*admission.Object) []acceptance {
	accepted := make([]acceptance, len(objects))
	var group errgroup.Group
	group.SetLimit(goruntime.GOMAXPROCS(0))
	for i, o := range objects {
		known, ok := l.accepted[acceptanceKey{cluster, o}]
		switch {
		case ok:
			accepted[i] = known
		case IsPolicy(o):
			group.Go(func() error {
				accepted[i] = accept(ctx, cluster, admission.ClientRequest{Operation: k8sadmission.Create, User: l.user, Applier: l.by(o)}, o)
				return nil
			})
		}
	}
	_ = group.Wait()
	for i, o := range objects {
		l.accepted[acceptanceKey{cluster, o}] = accepted[i]
	}
	return accepted
}

// Load is like the function Load.
func (l *Loader) Load(ctx context.Context, cluster *admission.Cluster, objects []*admission.Object) (*Set, []Refusal) {
	accepted := l.accept(ctx, cluster, objects)
	set := &Set{}
	var refusals []Refusal
	for _, a := range accepted {
		switch {
		case a.err != nil:
			refusals = append(refusals, refusal(a.object, a.err))
		case a.policy != nil:
			set.Policies = append(set.Policies, a.policy)
		case a.binding != nil:
			set.Bindings = append(set.Bindings, a.binding)
		case a.mutation != nil:
			set.Mutations = append(set.Mutations, a.mutation)
		case a.mutationBinding != nil:
			set.MutationBindings = append(set.MutationBindings, a.mutationBinding)
		}
	}
	sort.SliceStable(set.Policies, func(i, j int) bool { return set.Policies[i].Name < set.Policies[j].Name })
	sort.SliceStable(set.Bindings, func(i, j int) bool { return set.Bindings[i].Name < set.Bindings[j].Name })
	sort.SliceStable(set.Mutations, func(i, j int) bool { return set.Mutations[i].Name < set.Mutations[j].Name })
	sort.SliceStable(set.MutationBindings, func(i, j int) bool { return set.MutationBindings[i].Name < set.MutationBindings[j].Name })
	if cluster.Knows(kinds.Mutation) {
		set.Mutations, set.MutationBindings = lastOfName(set.Mutations), lastOfName(set.MutationBindings)
	}
	if cluster.Knows(kinds.Policy) {
		set.Policies = lastOfName(set.Policies)
	}
	if cluster.Knows(kinds.Binding) {
		set.Bindings = lastOfName(set.Bindings)
	}
	return set, refusals
}

// lastOfName keeps the last object of each name: a server has one, the one applied last. Where
// several roots define one, each counts.
func lastOfName[T metav1.Object](sorted []T) []T {
	var kept []T
	for i, o := range sorted {
		if i+1 == len(sorted) || sorted[i+1].GetName() != o.GetName() {
			kept = append(kept, o)
		}
	}
	return kept
}

// acceptance is the result of creating an object: a policy, a binding, or an error.
type acceptance struct {
	object  *admission.Object
	policy  *Policy
	binding *Binding
	err     error

	mutation        *Mutation
	mutationBinding *MutationBinding
}

// accept creates an object in a cluster. in is complete except for the object.
func accept(ctx context.Context, cluster *admission.Cluster, in admission.ClientRequest, o *admission.Object) acceptance {
	a := acceptance{object: o}
	served := o
	if _, ok := cluster.Resource(o.GroupVersionKind()); !ok {
		var err error
		if served, err = asV1(o); err != nil {
			a.err = err
			return a
		}
	}
	in.Object = served
	req, _, err := cluster.Prepare(ctx, in)
	if unknown := new(admission.UnknownKindError); errors.As(err, &unknown) && unknown.Kind == served.GroupVersionKind() {
		err = &admission.UnknownKindError{Kind: o.GroupVersionKind(), Builtin: unknown.Builtin} // the version in the file
	}
	if err != nil {
		a.err = err
		return a
	}
	version, err := req.Version(v1.SchemeGroupVersion.WithKind(req.GetKind().Kind))
	if err == nil && cluster.Knows(o.GroupVersionKind().GroupKind()) && versioned(served) {
		err = storage.ErrResourceVersionSetOnCreate
	}
	if err != nil {
		a.err = err
		return a
	}
	switch obj := version.VersionedObject.(type) {
	case *v1.ValidatingAdmissionPolicy:
		a.policy = &Policy{ValidatingAdmissionPolicy: obj, Source: o}
	case *v1.MutatingAdmissionPolicy:
		a.mutation = &Mutation{MutatingAdmissionPolicy: obj, Source: o}
	case *v1.MutatingAdmissionPolicyBinding:
		a.mutationBinding = &MutationBinding{MutatingAdmissionPolicyBinding: obj, Source: o}
	case *v1.ValidatingAdmissionPolicyBinding:
		a.binding = &Binding{ValidatingAdmissionPolicyBinding: obj, Source: o}
	}
	return a
}

// versioned reports whether an object has a resourceVersion, which storage rejects in a new object
// (k8s.io/apiserver/pkg/storage/etcd3, Create).
func versioned(o *admission.Object) bool {
	u := unstructured.Unstructured{Object: o.Content()}
	version, err := storage.APIObjectVersioner{}.ObjectResourceVersion(&u)
	return err == nil && version != 0
}

// asV1 converts a policy or binding of a version that is no longer served.
func asV1(o *admission.Object) (*admission.Object, error) {
	kind := o.GroupVersionKind()
	if kind.Version == v1.SchemeGroupVersion.Version {
		return o, nil
	}
	scheme := legacyscheme.Scheme
	if !scheme.Recognizes(kind) {
		return nil, &admission.UnknownKindError{Kind: kind, Builtin: true}
	}
	old, err := scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content(), old); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind.Kind, kind.Version, kind.Kind, err))
	}
	scheme.Default(old)
	internal, err := scheme.ConvertToVersion(old, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, err
	}
	current, err := scheme.ConvertToVersion(internal, v1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	content, err := admission.Content(current)
	if err != nil {
		return nil, err
	}
	served := admission.NewObject(content)
	served.Tag, served.Unknown = o.Tag, o.Unknown
	return served, nil
}

func refusal(o *admission.Object, err error) Refusal {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return Refusal{Object: o, Message: err.Error(), Unknown: errors.As(err, new(*unknown.Error))}
	}
	r := Refusal{Object: o, Message: status.ErrStatus.Message, Reason: status.ErrStatus.Reason, Code: status.ErrStatus.Code}
	if status.ErrStatus.Details != nil {
		for _, cause := range status.ErrStatus.Details.Causes {
			if cause.Field != "" {
				r.Fields = append(r.Fields, cause.Field)
				r.Causes = append(r.Causes, cause)
			}
		}
	}
	if len(r.Causes) == 0 {
		r.Fields = mistyped.Fields(r.Message, o.Content(), o.Unknown)
	}
	return r
}
