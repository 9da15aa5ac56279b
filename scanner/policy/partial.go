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

// unknowns are the unknown values of an evaluation. CEL identifies unknown values by numbers: the indexes of
// found. If absent is set, fields that may be absent are absent.
type unknowns struct {
	found  []unknownAt
	absent bool
}

// unknownAt is an unknown value of a variable.
type unknownAt struct {
	variable string
	field    *render.Unknown
}

// bind returns content for expressions, with CEL's unknown values.
func (u *unknowns) bind(variable string, content any) any {
	if m, ok := content.(map[string]any); ok && m == nil {
		return nil
	}
	return u.value(variable, content)
}

// missing returns the unknown value of a key that a map may have.
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

// why returns the fields on which a value depends, in their order.
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

// summary returns the first of several texts and the number of others.
func summary(texts []string) string {
	if len(texts) > 1 {
		return fmt.Sprintf("%s (and %d more)", texts[0], len(texts)-1)
	}
	return strings.Join(texts, "")
}

// partial evaluates a policy for a request with unknown values: CEL evaluates with unknown values,
// and results that do not depend on them are exact.
type partial struct {
	*evaluation
	unknowns                             unknowns
	object, oldObject, params, namespace any
}

// partial returns the evaluation with unknown values; nil when all are known. If absent is set, values that
// may be absent are absent.
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

// with sets the unknown values of an activation.
func (p *partial) with(a *activation, programs *compiled) *activation {
	a.variables = programs.variables
	a.object, a.oldObject, a.params = p.object, p.oldObject, p.params
	if p.namespace != nil && a.namespace() != nil {
		whole := a.namespace
		a.namespace = func() any { whole(); return p.namespace }
	}
	return a
}

// validate returns what does not depend on unknown values, and adds what does to open.
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
	var published []published
	decisions, open, err := p.validations(programs)
	if err != nil { // a server evaluates nothing after it
		decisions = p.failAll(err)
	} else {
		var errored []Decision
		published, errored = p.auditAnnotations(programs)
		decisions = append(decisions, errored...)
	}
	if unsure != "" {
		if len(decisions)+len(open)+len(published) > 0 || p.conditionsMayFail(programs) {
			p.open = append(p.open, unsure)
		}
		return nil, nil
	}
	p.open = append(p.open, open...)
	return decisions, published
}

// matchConditions reports whether the match conditions hold. If that depends on unknown values, it
// returns true and describes them in unsure.
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

// conditionsMayFail reports whether match conditions with unknown results return an error, which denies, for
// the written values, or if fields that may be absent are absent.
func (p *partial) conditionsMayFail(programs *compiled) bool {
	if _, err := p.evaluation.matchConditions(); err != nil {
		return true
	}
	_, _, err := p.evaluation.partial(true).matchConditions(programs)
	return err != nil
}

// validations returns the failures that are certain, and the unknown values on which others depend.
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
	// A message that shows an unknown value shows the written one.
	messages, err := p.messages(certain, budget)
	for i, r := range certain {
		if d, failed := p.decide(i, r, at(messages, i), err); failed {
			d.Input = p.input(p.activation(true, p.resource, p.evaluation.namespace().object))
			decisions = append(decisions, d)
		}
	}
	return decisions, open, nil
}

// auditAnnotations uses the written values in place of unknown ones. An annotation that fails with these is
// certain to fail only if it fails for all values.
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

// unknownAware returns the programs of the policy that accept unknown values.
func (p *partial) unknownAware() *compiled {
	return p.engine.compiler.compileFor(p.policy.ValidatingAdmissionPolicy, true)
}
