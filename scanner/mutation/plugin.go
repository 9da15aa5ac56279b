package mutation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/policy"
)

// Plugin is the MutatingAdmissionPolicy plugin for a state. It is safe for concurrent use.
type Plugin struct {
	cluster    *admission.Cluster
	applier    *policy.Applier
	compiler   *Compiler
	dispatcher generic.Dispatcher[mutating.PolicyHook]
	policies   map[string]*policy.Mutation
	bindings   map[string][]*policy.MutationBinding // by policy
	knownRBAC  bool
}

// Enabled reports whether the imitated API server runs the plugin, by its feature gate.
func Enabled() bool {
	emulation.Current()
	return utilfeature.DefaultFeatureGate.Enabled(features.MutatingAdmissionPolicy)
}

// New returns the plugin for the policies of a set, nil when it has none or the server does not run
// the plugin.
func New(cluster *admission.Cluster, set *policy.Set, compiler *Compiler) *Plugin {
	if len(set.Mutations) == 0 || len(set.MutationBindings) == 0 || !Enabled() {
		return nil
	}
	authorizer, known := cluster.Authorizer()
	p := &Plugin{
		cluster: cluster, applier: policy.NewApplier(cluster, set), compiler: compiler, knownRBAC: known,
		dispatcher: mutating.NewDispatcher(authorizer, matching.NewMatcher(namespaces{cluster}, admission.Client{Cluster: cluster}), types{cluster}),
		policies:   map[string]*policy.Mutation{}, bindings: map[string][]*policy.MutationBinding{},
	}
	for _, m := range set.Mutations {
		p.policies[m.Name] = m
	}
	for _, b := range set.MutationBindings {
		p.bindings[b.Spec.PolicyName] = append(p.bindings[b.Spec.PolicyName], b)
	}
	return p
}

// Mutate implements admission.Mutator.
func (p *Plugin) Mutate(ctx context.Context, req *admission.Request) error {
	if req.GetOperation() == k8sadmission.Delete {
		return nil
	}
	applications := p.applier.Applications(req)
	if len(applications) == 0 {
		return nil
	}
	recorder, records := ctx.Value(recorderKey{}).(*Recorder)
	var hooks []mutating.PolicyHook
	var open error // the error of an invoked policy that depends on unknown values
	for _, a := range applications {
		matching, invoked := p.unknown(a, req)
		if matching != nil {
			return matching
		}
		h := p.hook(p.policies[a.Policy])
		switch {
		case invoked != nil:
			h.Evaluator.Mutators = slices.Repeat([]patch.Patcher{unknownPatcher{invoked, &open}}, len(h.Evaluator.Mutators))
		case records:
			h.Evaluator.Mutators = recorder.recorded(p.policies[a.Policy], h.Evaluator.Mutators)
		}
		hooks = append(hooks, h)
	}
	err := p.dispatcher.Dispatch(ctx, req.Attributes, req.Interfaces, hooks)
	if open != nil {
		return open
	}
	if err != nil && records {
		recorder.recordRefusal(err, p, applications)
	}
	return err
}

// hook returns a policy with its bindings and an informer of its params.
func (p *Plugin) hook(m *policy.Mutation) mutating.PolicyHook {
	h := mutating.PolicyHook{Policy: m.MutatingAdmissionPolicy, Evaluator: p.compiler.evaluator(m.MutatingAdmissionPolicy)}
	for _, b := range p.bindings[m.Name] {
		h.Bindings = append(h.Bindings, b.MutatingAdmissionPolicyBinding)
	}
	if kind := m.Spec.ParamKind; kind != nil {
		gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
		resource, ok := p.cluster.Resource(gvk)
		if !ok {
			h.ConfigurationError = fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
			return h
		}
		h.ParamScope = meta.RESTScopeRoot
		if resource.Namespaced {
			h.ParamScope = meta.RESTScopeNamespace
		}
		h.ParamInformer = params{cluster: p.cluster, resource: resource, kind: gvk}
	}
	return h
}

// unknownPatcher replaces a mutation whose result depends on unknown values. When it is invoked, the
// request ends, whatever the failure policy.
type unknownPatcher struct {
	why  error
	open *error
}

// Patch implements patch.Patcher.
func (p unknownPatcher) Patch(context.Context, patch.Request, int64) (runtime.Object, error) {
	*p.open = p.why
	return nil, apierrors.NewInternalError(p.why)
}

// unknown returns an error if it is not known whether a policy is invoked for a request, and another
// if it is not known what the policy changes when it is.
func (p *Plugin) unknown(a policy.Application, req *admission.Request) (matching, invoked error) {
	if a.Unknown != "" {
		return &UnknownError{Policy: a.Policy, Why: a.Unknown}, nil
	}
	if served, ok := p.cluster.Resource(req.GetKind()); ok && served.Assumed {
		return &UnknownError{Policy: a.Policy, Why: fmt.Sprintf("the CustomResourceDefinition of %s is not in the repository; add it or give it with --context", req.GetKind().GroupKind())}, nil
	}
	conditions, all, err := readsOf(&p.policies[a.Policy].Spec)
	if err != nil {
		return nil, nil // it does not compile: its failure policy decides
	}
	return p.unknownTo(a, conditions, req), p.unknownTo(a, all, req)
}

// unknownTo returns an error if expressions read something unknown.
func (p *Plugin) unknownTo(a policy.Application, reads reads, req *admission.Request) error {
	what := "what MutatingAdmissionPolicy " + a.Policy + " changes"
	if fields := reads.among(req); len(fields) > 0 {
		return &unknown.Error{What: what, Fields: fields}
	}
	if reads.variable("authorizer") && !p.knownRBAC {
		return &UnknownError{Policy: a.Policy, Why: "it asks what the user may do, and not all RBAC objects are known"}
	}
	if name := req.GetNamespace(); name != "" && reads.variable("namespaceObject") {
		if _, assumed, err := p.cluster.Namespace(name); err == nil && assumed {
			return &UnknownError{Policy: a.Policy, Why: fmt.Sprintf("it reads namespace %q, which nothing defines; add the Namespace to the repository or give it with --context", name)}
		}
		if fields := p.cluster.UnknownOfNamespace(name); len(fields) > 0 {
			return &unknown.Error{What: what, Fields: fields}
		}
	}
	return nil
}

// UnknownError is the error for a policy whose effect on a request is not known.
type UnknownError struct{ Policy, Why string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("what MutatingAdmissionPolicy %s changes is not known: %s", e.Policy, e.Why)
}

// namespaces lists the namespaces of a cluster for the matcher.
type namespaces struct{ cluster *admission.Cluster }

// Get implements corev1listers.NamespaceLister.
func (l namespaces) Get(name string) (*corev1.Namespace, error) {
	ns, _, err := l.cluster.Namespace(name)
	return ns, err
}

// List implements corev1listers.NamespaceLister; the matcher never lists.
func (l namespaces) List(labels.Selector) ([]*corev1.Namespace, error) {
	return nil, errors.New("namespaces cannot be listed")
}

// types returns the types of a cluster's kinds to the dispatcher.
type types struct{ cluster *admission.Cluster }

// GetTypeConverter implements patch.TypeConverterManager.
func (t types) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	converter, err := t.cluster.Types(kind)
	if err != nil {
		return nil
	}
	return converter
}

// Run implements patch.TypeConverterManager.
func (types) Run(context.Context) {}
