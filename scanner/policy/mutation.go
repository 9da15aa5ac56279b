package policy

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// Mutation is a MutatingAdmissionPolicy as the server stores it, with its source.
type Mutation struct {
	*v1.MutatingAdmissionPolicy
	Source *admission.Object
}

// MutationBinding is a MutatingAdmissionPolicyBinding as the server stores it, with its source.
type MutationBinding struct {
	*v1.MutatingAdmissionPolicyBinding
	Source *admission.Object
}

// Matching returns a policy that matches the same requests as a mutation, with its params, conditions
// and variables, but without validations.
func (m *Mutation) Matching() *Policy {
	return &Policy{Source: m.Source, ValidatingAdmissionPolicy: &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: m.Name},
		Spec: v1.ValidatingAdmissionPolicySpec{
			ParamKind: m.Spec.ParamKind, MatchConstraints: m.Spec.MatchConstraints, FailurePolicy: m.Spec.FailurePolicy,
			MatchConditions: m.Spec.MatchConditions, Variables: m.Spec.Variables,
		},
	}}
}

// Matching returns a validating binding that matches the same requests.
func (b *MutationBinding) Matching() *Binding {
	return &Binding{Source: b.Source, ValidatingAdmissionPolicyBinding: &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: b.Name},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: b.Spec.PolicyName, ParamRef: b.Spec.ParamRef, MatchResources: b.Spec.MatchResources},
	}}
}

// Application is a policy that applies to a request, or may.
type Application struct {
	Policy   string
	Bindings []string
	// Kind is the version of the object that the policy sees.
	Kind schema.GroupVersionKind
	// Unknown is the reason why it is not known whether the policy applies, or with which params;
	// empty when it is known.
	Unknown string
	// Params are the objects that the bindings refer to.
	Params []*admission.Object
}

// Applier finds the MutatingAdmissionPolicies of a set that apply to requests. It is safe for
// concurrent use.
type Applier struct{ engine *Engine }

// NewApplier returns an Applier. Policies and bindings of both kinds match by the same rules.
func NewApplier(cluster *admission.Cluster, set *Set) *Applier {
	matching := &Set{}
	for _, m := range set.Mutations {
		matching.Policies = append(matching.Policies, m.Matching())
	}
	for _, b := range set.MutationBindings {
		matching.Bindings = append(matching.Bindings, b.Matching())
	}
	return &Applier{NewEngine(cluster, nil, matching)}
}

// Applications returns the policies that apply to a request, or may, sorted by name. It must not be modified.
func (a *Applier) Applications(req *admission.Request) []Application {
	return a.engine.Applications(req)
}

// Applications returns the policies that apply to a request, or may, sorted by name. It must not be modified.
func (e *Engine) Applications(req *admission.Request) []Application {
	if e.exempt[req.GetResource().GroupResource()] {
		return nil
	}
	of := e.class(req)
	if of.set {
		return of.applications
	}
	return e.applicationsOf(of, req)
}

// applicationsOf returns the policies that apply to a request of a class, or may.
func (e *Engine) applicationsOf(of *class, req *admission.Request) []Application {
	all := make([]Application, 0, len(of.candidates))
	for i := range of.candidates {
		if one := e.application(&of.candidates[i], req); len(one.Bindings) > 0 || one.Unknown != "" {
			all = append(all, one)
		}
	}
	return all
}

func (e *Engine) application(c *candidate, req *admission.Request) Application {
	h, m := c.hook, c.match(e.matcher, req)
	one := Application{Policy: h.policy.Name, Kind: m.kind}
	if open := unknownSpec(h.policy.Source, "matchConstraints", m.matches); open != "" {
		one.Unknown = "of the policy " + open
		return one
	}
	if one.Unknown = m.unknown; m.err != nil {
		one.Bindings = []string{""} // the dispatcher reports the error
	}
	if !m.matches || m.err != nil || one.Unknown != "" {
		return one
	}
	if kind := h.policy.Spec.ParamKind; kind != nil {
		if _, ok := e.cluster.Resource(paramGVK(kind)); !ok {
			// The dispatcher refuses the request whatever the bindings match.
			if one.Bindings = []string{""}; !e.cluster.KnowsKinds() {
				one.Unknown = fmt.Sprintf("the policy's paramKind is not known: %v", &admission.UnknownKindError{Kind: paramGVK(kind)})
			}
			return one
		}
	}
	for _, b := range h.bindings {
		e.bound(h, b, req, &one)
	}
	return one
}

// bound adds a binding of a policy to an Application.
func (e *Engine) bound(h *hook, b *Binding, req *admission.Request, one *Application) {
	m := e.matcher.binding(req, b)
	open := unknownSpec(b.Source, "matchResources", m.matches)
	switch {
	case open != "":
		one.Unknown = "of the binding " + open
		return
	case m.unknown != "":
		one.Unknown = m.unknown
		return
	case !m.matches && m.err == nil:
		return
	}
	one.Bindings = append(one.Bindings, b.Name)
	kind := h.policy.Spec.ParamKind
	if kind == nil || m.err != nil {
		return
	}
	params, err := e.params(kind, b.Spec.ParamRef, req.GetNamespace())
	if missing := new(UnknownParamError); errors.As(err, &missing) {
		one.Unknown = missing.Error()
	}
	for _, p := range params {
		if p == nil {
			continue
		}
		one.Params = append(one.Params, p)
		if read := e.readParam(kind, p); read.err != nil {
			one.Unknown = read.err.Error()
		}
		if len(p.Unknown) > 0 {
			one.Unknown = "of its param " + unknown.Describe(&p.Unknown[0])
		}
	}
}
