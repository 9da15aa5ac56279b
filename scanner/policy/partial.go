package policy

import (
	"fmt"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/policy/cel"
)

// unknowns are the values of an evaluation that are not known. CEL's own unknown values
// have numbers, which are those of this list. Where absent is set, fields that may not be there are not.
type unknowns struct {
	found  []unknownAt
	absent bool
}

// unknownAt is an unknown value of a variable.
type unknownAt struct {
	variable string
	field    *render.Unknown
}

// bind returns content as expressions see it, with CEL's unknown values.
func (u *unknowns) bind(variable string, content any) any {
	if m, ok := content.(map[string]any); ok && m == nil {
		return nil
	}
	return u.value(variable, content)
}

// missing returns the unknown value of a key that may be in a map.
func (u *unknowns) missing(variable string, in unknown.Open, key string) *celtypes.Unknown {
	field := &render.Unknown{Path: append(slices.Clone(in.Path), key), Reason: in.Reason}
	u.found = append(u.found, unknownAt{variable, field})
	return celtypes.NewUnknown(cel.UnknownID(len(u.found)-1, true), nil)
}

func (u *unknowns) value(variable string, value any) any {
	switch v := value.(type) {
	case unknown.Value:
		u.found = append(u.found, unknownAt{variable, v.Field})
		return celtypes.NewUnknown(cel.UnknownID(len(u.found)-1, v.Maybe), nil)
	case unknown.Open:
		content, _ := u.value(variable, v.Content).(map[string]any)
		if u.absent {
			return content
		}
		return &cel.OpenMap{Content: content, Missing: func(key string) *celtypes.Unknown { return u.missing(variable, v, key) }}
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			if field, ok := item.(unknown.Value); !ok || !u.absent || !field.Maybe {
				out[key] = u.value(variable, item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = u.value(variable, item)
		}
		return out
	}
	return value
}

// why says which fields a value depends on, in their order.
func (u *unknowns) why(value *celtypes.Unknown) string {
	var texts []string
	for _, id := range value.IDs() {
		if i := cel.UnknownIndex(id); i >= 0 && i < len(u.found) {
			at := u.found[i]
			if text := at.variable + "." + unknown.Which(at.field); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return summary(texts)
}

// summary names the first of several fields.
func summary(texts []string) string {
	if len(texts) > 1 {
		return fmt.Sprintf("%s (and %d more)", texts[0], len(texts)-1)
	}
	return strings.Join(texts, "")
}

// partial is the evaluation of a policy for a request some of whose values are not known:
// CEL evaluates with unknown values, and what does not turn on them is exact.
type partial struct {
	*evaluation
	unknowns                             unknowns
	object, oldObject, params, namespace any
}

// partial returns the evaluation with unknown values; nil when all are known. absent has those that may
// not be there left out.
func (e *evaluation) partial(absent bool) *partial {
	ns := e.namespace()
	var unknownOfNamespace []render.Unknown
	if ns.namespace != nil {
		unknownOfNamespace = e.engine.cluster.UnknownOfNamespace(ns.namespace.Name)
	}
	status := e.openStatus()
	if e.version.KnownObject == nil && e.version.KnownOldObject == nil && e.knownParams == nil && len(unknownOfNamespace) == 0 && status == nil {
		return nil
	}
	p := &partial{evaluation: e, unknowns: unknowns{absent: absent}}
	p.object, p.oldObject, p.params = orNull(e.version.Object), orNull(e.version.OldObject), orNull(e.params)
	if known := withStatus(e.version.KnownObject, e.version.Object, status); known != nil {
		p.object = p.unknowns.bind("object", known)
	}
	if known := withStatus(e.version.KnownOldObject, e.version.OldObject, status); known != nil {
		p.oldObject = p.unknowns.bind("oldObject", known)
	}
	if e.knownParams != nil {
		p.params = p.unknowns.bind("params", e.knownParams)
	}
	if len(unknownOfNamespace) > 0 {
		content, _ := ns.object().(map[string]any)
		p.namespace = p.unknowns.bind("namespaceObject", unknown.Merge([]map[string]any{content}, unknownOfNamespace, nil))
	}
	return p
}

// with returns an activation with unknown values.
func (p *partial) with(a *activation, programs *compiled) *activation {
	a.variables = programs.variables
	a.object, a.oldObject, a.params = p.object, p.oldObject, p.params
	if p.namespace != nil && a.namespace() != nil {
		whole := a.namespace
		a.namespace = func() any { whole(); return p.namespace }
	}
	return a
}

// validate decides what does not depend on unknown values, and says what does.
func (p *partial) validate() ([]Decision, []published) {
	programs := p.unknownAware()
	if programs.err != nil {
		return p.failAll(programs.err), nil
	}
	matches, unsure, err := p.matchConditions(programs)
	if err != nil {
		return p.failAll(err), nil
	}
	if !matches {
		return nil, nil
	}
	decisions, open, err := p.validations(programs)
	if err != nil {
		decisions = p.failAll(err)
	}
	published, errored := p.auditAnnotations(programs)
	decisions = append(decisions, errored...)
	if unsure != "" {
		if len(decisions)+len(open)+len(published) > 0 || p.conditionsMayFail(programs) {
			p.open = append(p.open, unsure)
		}
		return nil, nil
	}
	p.open = append(p.open, open...)
	return decisions, published
}

// matchConditions says as well what the answer depends on, if it is not known; it matches
// then, perhaps.
func (p *partial) matchConditions(programs *compiled) (matches bool, unsure string, err error) {
	if len(programs.matchConditions) == 0 {
		return true, "", nil
	}
	a := p.with(p.activation(true, p.request.GetResource(), noNamespace), programs)
	a.namespace = noNamespace
	results, _, err := a.evaluateAll(programs.matchConditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	a.readNamespace = false // null on every server
	p.noteReads(a)
	if err != nil {
		return false, "", p.unlessIgnored(err)
	}
	var errs []error
	for i, r := range results {
		u, isUnknown := r.value.(*celtypes.Unknown)
		switch {
		case r.err != nil:
			errs = append(errs, r.err)
		case isUnknown:
			unsure = fmt.Sprintf("match condition %q depends on %s", p.policy.Spec.MatchConditions[i].Name, p.unknowns.why(u))
		case r.value == celtypes.False:
			return false, "", nil
		}
	}
	if len(errs) > 0 && (unsure == "" || p.unlessIgnored(errs[0]) == nil) {
		return false, "", p.unlessIgnored(utilerrors.NewAggregate(errs))
	}
	return true, unsure, nil
}

// conditionsMayFail reports whether match conditions of which the answer is not known are an error, which
// denies, for the values that are written or where fields that may not be there are not.
func (p *partial) conditionsMayFail(programs *compiled) bool {
	if _, err := p.evaluation.matchConditions(); err != nil {
		return true
	}
	_, _, err := p.evaluation.partial(true).matchConditions(programs)
	return err != nil
}

// validations returns the failures that are certain, and of the others what they depend on.
func (p *partial) validations(programs *compiled) (decisions []Decision, open []string, err error) {
	a := p.with(p.activation(true, p.resource, p.evaluation.namespace().object), programs)
	results, budget, err := a.evaluateAll(programs.validations, celconfig.RuntimeCELCostBudget)
	p.outcome.Evaluations += len(programs.validations)
	p.noteReads(a)
	if err != nil {
		return nil, nil, err
	}
	certain := slices.Clone(results)
	for i, r := range results {
		if u, ok := r.value.(*celtypes.Unknown); ok {
			open = append(open, fmt.Sprintf("spec.validations[%d] depends on %s", i, p.unknowns.why(u)))
			certain[i] = result{value: celtypes.True}
		}
	}
	// A message may show an unknown value: it has what is written in its place.
	messages, err := p.messages(certain, budget)
	for i, r := range certain {
		if d, failed := p.decide(i, r, at(messages, i), err); failed {
			d.Input = p.input(p.activation(true, p.resource, p.evaluation.namespace().object))
			decisions = append(decisions, d)
		}
	}
	return decisions, open, nil
}

// auditAnnotations shows what is written in place of unknown values. Where an annotation cannot be made
// with that, it is certain only if it cannot be made whatever the values are.
func (p *partial) auditAnnotations(programs *compiled) ([]published, []Decision) {
	values, errored, err := p.evaluation.auditAnnotations(p.compiled, p.annotating)
	if err == nil && len(errored) == 0 {
		return values, nil
	}
	_, certain, failed := p.evaluation.auditAnnotations(programs, func() *activation { return p.with(p.annotating(), programs) })
	certain = slices.DeleteFunc(certain, func(d Decision) bool {
		return !slices.ContainsFunc(errored, func(other Decision) bool { return other.Message == d.Message })
	})
	if err != nil || failed != nil || len(certain) < len(errored) {
		p.open = append(p.open, "spec.auditAnnotations may depend on values that are not known")
	}
	return values, certain
}

// unknownAware are the programs of the policy that take unknown values.
func (p *partial) unknownAware() *compiled {
	return p.engine.compiler.compileFor(p.policy.ValidatingAdmissionPolicy, true)
}
