package policy

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// unsettled is a param of which it is not known that a policy has nothing to say to a request with it.
type unsettled struct {
	param *admission.Object
	// key stands for the evaluation; it is not set where something is not known.
	key settled.Key
	set bool
}

// unsettled returns the params for which a policy is evaluated.
func (d *dispatch) unsettled(h *hook, m match, params []*admission.Object) []unsettled {
	all := make([]unsettled, 0, len(params))
	for _, param := range params {
		u := unsettled{param: param}
		u.key, u.set = d.key(h, m, param)
		if u.set {
			if work, found := d.engine.compiler.Settled.Find(u.key); found {
				d.outcome.Evaluations += int(work.Validations)
				d.engine.compiler.spent.Add(work.Cost)
				continue
			}
		}
		all = append(all, u)
	}
	return all
}

// evaluate runs an evaluation, and keeps that it has nothing to say.
func (d *dispatch) evaluate(u unsettled, e *evaluation, annotations *annotations) {
	before := d.outcome.Evaluations
	silent := e.run(annotations)
	if u.set && silent && !e.took.beyond && d.ctx.Err() == nil {
		d.engine.compiler.Settled.Add(u.key, settled.Work{Validations: int64(d.outcome.Evaluations - before), Cost: e.took.cost})
	}
}

// taken is what an evaluation took.
type taken struct {
	cost int64
	// beyond is set when it read what its key does not have: the namespace or the authorizer.
	beyond bool
}

// key stands for all that an evaluation depends on that reads neither the namespace nor the authorizer: the
// policy, and the other variables of its expressions. The environment of stored expressions is the same in all
// versions of Kubernetes (environment.EnvSet), so that the expressions of a policy in force give the same.
func (d *dispatch) key(h *hook, m match, param *admission.Object) (key settled.Key, ok bool) {
	if d.engine.compiler.Settled == nil || h.readsStatus() && d.request.OpenStatus() != nil {
		return key, false
	}
	if ns := d.namespace().namespace; ns != nil && len(d.engine.cluster.UnknownOfNamespace(ns.Name)) > 0 {
		return key, false
	}
	policy, err := h.key()
	if err != nil {
		return key, false
	}
	inputs, ok := d.keyOfInputs(m)
	if !ok {
		return key, false
	}
	var params readParam
	if param != nil {
		params = d.engine.readParam(h.policy.Spec.ParamKind, param)
	}
	if params.err != nil || params.known != nil {
		return key, false
	}
	key, err = settled.KeyOf(policy, inputs, orNull(params.content))
	return key, err == nil
}

// keyOfInputs stands for a request as a policy sees it: its objects and its attributes.
func (d *dispatch) keyOfInputs(m match) (key settled.Key, ok bool) {
	at := requestKey{m.resource, m.kind}
	if key, ok := d.inputs[at]; ok {
		return key, true
	}
	var object, oldObject any
	text, oldText, ok := d.request.Text(m.kind)
	if ok {
		object, oldObject = string(text), string(oldText)
	} else {
		version, err := d.request.Version(m.kind)
		if err != nil || version.KnownObject != nil || version.KnownOldObject != nil {
			return key, false
		}
		object, oldObject = orNull(version.Object), orNull(version.OldObject)
	}
	key, err := settled.KeyOf(object, oldObject, d.requestVariable(m.kind, m.resource),
		d.request.GetResource().String()) // which match conditions see as request.resource
	if err != nil {
		return key, false
	}
	if d.inputs == nil {
		d.inputs = map[requestKey]settled.Key{}
	}
	d.inputs[at] = key
	return key, true
}

func keyOfSpec(spec *v1.ValidatingAdmissionPolicySpec) (settled.Key, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return settled.Key{}, fmt.Errorf("encode policy: %w", err)
	}
	return settled.KeyOf(string(text))
}
