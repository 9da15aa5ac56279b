package policy

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// unsettled is a param with which a policy has to be evaluated.
type unsettled struct {
	param *admission.Object
	// key identifies the evaluation among those of the request; of is nil if something is unknown.
	key settled.Key
	of  *settled.Request
}

// unsettled returns the params with which a policy has to be evaluated.
func (d *dispatch) unsettled(h *hook, m match, params []*admission.Object) (all []unsettled) {
	for _, param := range params {
		u := unsettled{param: param}
		if u.key, u.of = d.key(h, m, param); u.of != nil {
			if work, found := u.of.Find(u.key); found {
				d.outcome.Evaluations += int(work.Validations)
				d.engine.compiler.spent.Add(work.Cost)
				continue
			}
		}
		all = append(all, u)
	}
	return all
}

// evaluate runs an evaluation and records it in Settled if it has no finding.
func (d *dispatch) evaluate(u unsettled, e *evaluation, annotations *annotations) {
	before := d.outcome.Evaluations
	silent := e.run(annotations)
	if u.of != nil && silent && !e.usage.outsideKey && d.ctx.Err() == nil {
		u.of.Add(u.key, settled.Work{Validations: int64(d.outcome.Evaluations - before), Cost: e.usage.cost})
	}
}

// usage is the cost of an evaluation, and what it read.
type usage struct {
	cost int64
	// outsideKey is set when it read something that its key does not include: the namespace or the
	// authorizer.
	outsideKey bool
}

// key returns the evaluations of the request as a policy sees it, and a key among them. The request's key and this
// one cover all inputs of an evaluation that reads neither the namespace nor the authorizer: the policy, and the other
// variables of its expressions. The environment of stored expressions is the same in all versions of Kubernetes
// (environment.EnvSet), so the expressions of a policy in force have the same results.
func (d *dispatch) key(h *hook, m match, param *admission.Object) (key settled.Key, of *settled.Request) {
	if d.engine.compiler.Settled == nil || h.readsStatus() && d.request.OpenStatus() != nil {
		return key, nil
	}
	if ns := d.namespace().namespace; ns != nil && len(d.engine.cluster.UnknownOfNamespace(ns.Name)) > 0 {
		return key, nil
	}
	key, err := h.key()
	if err != nil {
		return key, nil
	}
	if param != nil {
		params := d.engine.readParam(h.policy.Spec.ParamKind, param)
		if params.err != nil || params.known != nil {
			return key, nil
		}
		if key, err = settled.KeyOf(key, orNull(params.content)); err != nil {
			return key, nil
		}
	}
	return key, d.settled(m)
}

// settled returns the evaluations of the request as a policy sees it, by a key of its objects and its attributes; nil
// if some of it is unknown.
func (d *dispatch) settled(m match) *settled.Request {
	at := requestKey{m.resource, m.kind}
	if of, ok := d.evaluations[at]; ok {
		return of
	}
	var object, oldObject any
	typed, oldTyped, ok := d.request.Objects(m.kind)
	if ok {
		object, oldObject = settled.Object{Value: typed}, settled.Object{Value: oldTyped}
	} else {
		version, err := d.request.Version(m.kind)
		if err != nil || version.KnownObject != nil || version.KnownOldObject != nil {
			return nil
		}
		object, oldObject = orNull(version.Object), orNull(version.OldObject)
	}
	key, err := settled.KeyOf(object, oldObject,
		settled.Object{Value: d.admissionRequest(at)}, // without the objects
		d.request.GetResource().String())              // match conditions see it as request.resource
	if err != nil {
		return nil
	}
	if d.evaluations == nil {
		d.evaluations = map[requestKey]*settled.Request{}
	}
	d.evaluations[at] = d.engine.compiler.Settled.Of(key)
	return d.evaluations[at]
}

func keyOfSpec(spec *v1.ValidatingAdmissionPolicySpec) (settled.Key, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return settled.Key{}, fmt.Errorf("encode policy: %w", err)
	}
	return settled.KeyOf(string(text))
}
