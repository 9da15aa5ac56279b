package mutation

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/patches"
)

// Write is a mutation of a policy that was applied to an object.
type Write struct {
	Policy *policy.Mutation
	// Mutation is the index in spec.mutations.
	Mutation int
	// Param is the namespace and name of the param, or only the name if it has no namespace; empty
	// for none.
	Param string
	// Kind is the version of the object that the policy matched; Before and After are the object in
	// that version.
	Kind          schema.GroupVersionKind
	Before, After map[string]any
}

// Expression returns the field of the policy that holds the expression of the mutation.
func (w *Write) Expression() string {
	field, _ := patches.ExpressionOf(w.Policy.Spec.Mutations[w.Mutation])
	return fmt.Sprintf("spec.mutations[%d].%s", w.Mutation, field)
}

// Recorder records the changes of a mutator to the object of one request.
type Recorder struct {
	admission.Mutator
	// Writes are the mutations, in the order in which they were applied.
	Writes []Write
	// Failed is the policy that refused the request, nil for none.
	Failed *policy.Mutation
	// Binding is the name of the binding with which it refused the request.
	Binding string
}

type recorderKey struct{}

// Mutate implements admission.Mutator. The records are reset when an object is prepared again.
func (r *Recorder) Mutate(ctx context.Context, req *admission.Request) error {
	if !req.GetReinvocationContext().IsReinvoke() {
		r.Writes, r.Failed, r.Binding = nil, nil, ""
	}
	return r.Mutator.Mutate(context.WithValue(ctx, recorderKey{}, r), req)
}

// recordRefusal records the policy that caused an error, according to the text of the dispatcher.
func (r *Recorder) recordRefusal(err error, p *Plugin, applications []policy.Application) {
	for _, a := range applications {
		for _, b := range p.bindings[a.Policy] {
			if strings.Contains(err.Error(), "policy '"+a.Policy+"' with binding '"+b.Name+"' denied request") {
				r.Failed, r.Binding = p.policies[a.Policy], b.Name
				return
			}
		}
	}
}

// recorded returns patchers of a policy that record their changes.
func (r *Recorder) recorded(m *policy.Mutation, patchers []patch.Patcher) []patch.Patcher {
	out := make([]patch.Patcher, len(patchers))
	for i, p := range patchers {
		out[i] = recordingPatcher{p, r, m, i}
	}
	return out
}

type recordingPatcher struct {
	patch.Patcher
	recorder *Recorder
	policy   *policy.Mutation
	mutation int
}

// Patch implements patch.Patcher.
func (p recordingPatcher) Patch(ctx context.Context, r patch.Request, budget int64) (runtime.Object, error) {
	w := Write{Policy: p.policy, Mutation: p.mutation, Kind: r.VersionedAttributes.VersionedKind, Param: paramOf(r)}
	var err error
	if w.Before, err = contentOf(r.VersionedAttributes.VersionedObject); err != nil {
		return nil, err
	}
	patched, err := p.Patcher.Patch(ctx, r, budget)
	if err != nil {
		return nil, err
	}
	if w.After, err = contentOf(patched); err != nil {
		return nil, err
	}
	p.recorder.Writes = append(p.recorder.Writes, w)
	return patched, nil
}

// paramOf returns the namespace and name of the param in a patcher's request.
func paramOf(r patch.Request) string {
	if param, err := meta.Accessor(r.OptionalVariables.VersionedParams); err == nil {
		return strings.TrimPrefix(param.GetNamespace()+"/"+param.GetName(), "/")
	}
	return ""
}

// contentOf returns a copy of the content of an object.
func contentOf(obj runtime.Object) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return runtime.DeepCopyJSON(u.UnstructuredContent()), nil
	}
	return admission.Content(obj)
}
