package explain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// matching determines what decides whether a policy applies: it calls the API server's matcher for
// each field separately, with all other fields matching everything.
type matching struct {
	engine  *policy.Engine
	req     *admission.Request
	cluster *admission.Cluster
	steps   []report.ExplainedMatch
}

// everything returns rules that match all requests.
func everything() []v1.NamedRuleWithOperations {
	all := v1.AllScopes
	return []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*", "*/*"}, Scope: &all},
	}}}
}

// policy adds the result of each field of a policy's matchConstraints.
func (m *matching) policy(p *policy.Policy) {
	matches, unknown, err := m.engine.Matches(m.req, p, nil)
	m.resources(p.Spec.MatchConstraints, "policy", "spec.matchConstraints")
	m.whole("policy", "spec.matchConstraints", matches, unknown, err)
}

// binding adds the result of each field of a binding's matchResources.
func (m *matching) binding(b *policy.Binding) {
	matches, unknown, err := m.engine.Matches(m.req, nil, b)
	if b.Spec.MatchResources != nil {
		m.resources(b.Spec.MatchResources, "binding", "spec.matchResources")
	}
	m.whole("binding", "spec.matchResources", matches, unknown, err)
}

// whole adds the overall result if the results of the fields do not explain it.
func (m *matching) whole(of, field string, matches bool, unknown string, err error) {
	said := slices.ContainsFunc(m.steps, func(s report.ExplainedMatch) bool { return s.Of == of && s.Result == "no" })
	step := report.ExplainedMatch{Field: field, Of: of}
	switch {
	case err != nil:
		step.Result, step.Why = "error", err.Error()
	case unknown != "" && !said:
		step.Result, step.Why = "unknown", unknown
	case !matches && !said:
		step.Result, step.Decides = "no", true
		step.Why = fmt.Sprintf("an API server asks no policy about %s", m.req.GetResource().GroupResource())
	default:
		return
	}
	m.steps = append(m.steps, step)
}

// fieldMatches calls the matcher with a single field.
func (m *matching) fieldMatches(r *v1.MatchResources) bool {
	if r.ResourceRules == nil {
		r.ResourceRules = everything()
	}
	if r.NamespaceSelector == nil {
		r.NamespaceSelector = &metav1.LabelSelector{}
	}
	if r.ObjectSelector == nil {
		r.ObjectSelector = &metav1.LabelSelector{}
	}
	matches, _, _, err := m.engine.Matcher().DefinitionMatches(m.req, m.req.Interfaces, validating.NewValidatingAdmissionPolicyAccessor(&v1.ValidatingAdmissionPolicy{
		Spec: v1.ValidatingAdmissionPolicySpec{MatchConstraints: r},
	}))
	return matches && err == nil
}

func (m *matching) add(of, field string, matches bool, why string) {
	step := report.ExplainedMatch{Field: field, Of: of, Result: "yes", Why: why}
	if !matches {
		step.Result, step.Decides = "no", true
	}
	m.steps = append(m.steps, step)
}

func (m *matching) resources(r *v1.MatchResources, of, field string) {
	if r == nil {
		return
	}
	if len(r.ResourceRules) > 0 {
		matches := m.fieldMatches(&v1.MatchResources{ResourceRules: r.ResourceRules, MatchPolicy: r.MatchPolicy})
		m.add(of, field+".resourceRules", matches, m.rules(r, matches))
	}
	if len(r.ExcludeResourceRules) > 0 {
		matches := m.fieldMatches(&v1.MatchResources{ExcludeResourceRules: r.ExcludeResourceRules, MatchPolicy: r.MatchPolicy})
		why := "no rule excludes " + m.request()
		if !matches {
			why = m.request() + " is excluded"
		}
		m.add(of, field+".excludeResourceRules", matches, why)
	}
	if s := r.NamespaceSelector; !isEmpty(s) {
		matches := m.fieldMatches(&v1.MatchResources{NamespaceSelector: s})
		m.add(of, field+".namespaceSelector", matches, m.namespace(s))
	}
	if s := r.ObjectSelector; !isEmpty(s) {
		matches := m.fieldMatches(&v1.MatchResources{ObjectSelector: s})
		m.add(of, field+".objectSelector", matches, m.object(s))
	}
}

func isEmpty(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// request describes the parts of the request that rules match.
func (m *matching) request() string {
	resource := m.req.GetResource()
	name := resource.Resource
	if sub := m.req.GetSubresource(); sub != "" {
		name += "/" + sub
	}
	group := resource.GroupVersion().String()
	return fmt.Sprintf("%s %s of %s", m.req.GetOperation(), name, group)
}

// rules returns which of the rules match, or why each does not.
func (m *matching) rules(r *v1.MatchResources, matches bool) string {
	var texts []string
	for i := range r.ResourceRules {
		rule := r.ResourceRules[i]
		only := func(change func(to *v1.NamedRuleWithOperations)) bool {
			rules := everything()
			change(&rules[0])
			return m.fieldMatches(&v1.MatchResources{ResourceRules: rules, MatchPolicy: r.MatchPolicy})
		}
		if matches {
			if only(func(to *v1.NamedRuleWithOperations) { *to = rule }) {
				return fmt.Sprintf("[%d] matches %s", i, m.request())
			}
			continue
		}
		if len(texts) == 5 {
			texts = append(texts, fmt.Sprintf("and %d more", len(r.ResourceRules)-5))
			break
		}
		texts = append(texts, fmt.Sprintf("[%d] %s", i, strings.Join(m.apart(rule, only), ", ")))
	}
	if matches {
		return m.request()
	}
	return m.request() + ": " + strings.Join(texts, "; ")
}

// apart describes the fields of a rule that do not match.
func (m *matching) apart(rule v1.NamedRuleWithOperations, only func(func(*v1.NamedRuleWithOperations)) bool) []string {
	var texts []string
	if !only(func(to *v1.NamedRuleWithOperations) { to.Operations = rule.Operations }) {
		texts = append(texts, fmt.Sprintf("operations %v do not have %s", rule.Operations, m.req.GetOperation()))
	}
	if !only(func(to *v1.NamedRuleWithOperations) {
		to.APIGroups, to.APIVersions, to.Resources = rule.APIGroups, rule.APIVersions, rule.Resources
	}) {
		texts = append(texts, fmt.Sprintf("apiGroups %q, apiVersions %q and resources %q are for others", rule.APIGroups, rule.APIVersions, rule.Resources))
	}
	if rule.Scope != nil && !only(func(to *v1.NamedRuleWithOperations) { to.Scope = rule.Scope }) {
		texts = append(texts, fmt.Sprintf("scope is %s", *rule.Scope))
	}
	if len(rule.ResourceNames) > 0 && !only(func(to *v1.NamedRuleWithOperations) { to.ResourceNames = rule.ResourceNames }) {
		texts = append(texts, fmt.Sprintf("resourceNames %q do not have %q", rule.ResourceNames, m.req.GetName()))
	}
	if len(texts) == 0 {
		texts = append(texts, "its fields match by themselves, not together")
	}
	return texts
}

func (m *matching) namespace(s *metav1.LabelSelector) string {
	name := m.req.GetNamespace()
	if name == "" {
		name = m.req.GetName()
		if m.req.GetKind().Kind != "Namespace" {
			return "an object without a namespace is always selected"
		}
	}
	ns, _, err := m.cluster.Namespace(name)
	if err != nil || ns == nil {
		return fmt.Sprintf("%s, of namespace %q", metav1.FormatLabelSelector(s), name)
	}
	return fmt.Sprintf("%s, and namespace %q has the labels %s", metav1.FormatLabelSelector(s), name, shown(ns.Labels))
}

func (m *matching) object(s *metav1.LabelSelector) string {
	of := func(o runtime.Object) string {
		if accessor, err := meta.Accessor(o); err == nil {
			return shown(accessor.GetLabels())
		}
		return "{}"
	}
	why := metav1.FormatLabelSelector(s)
	if o := m.req.GetObject(); o != nil {
		why += ", and the object has the labels " + of(o)
	}
	if o := m.req.GetOldObject(); o != nil {
		why += ", and the old object " + of(o)
	}
	return why
}

func shown(of map[string]string) string {
	if len(of) == 0 {
		return "{}"
	}
	return clip("{"+labels.Set(of).String()+"}", maxValue)
}

// params returns the params that a binding refers to.
func (m *matching) params(p *policy.Policy, b *policy.Binding) []*admission.Object {
	params, err := m.engine.Params(p, b, m.req.GetNamespace())
	missing := new(policy.UnknownParamError)
	ref, kind := b.Spec.ParamRef, p.Spec.ParamKind.Kind
	step := report.ExplainedMatch{Field: "spec.paramRef", Of: "binding", Result: "yes"}
	switch {
	case errors.As(err, &missing):
		step.Result, step.Why = "unknown", err.Error()
	case err != nil:
		step.Result, step.Why = "error", err.Error()
	case ref == nil:
		step.Why = fmt.Sprintf("the binding has no paramRef, so params is null although the policy has the paramKind %s", kind)
	case len(params) == 0:
		step.Result, step.Decides, step.Why = "no", true, fmt.Sprintf("no %s is found, and parameterNotFoundAction is Allow", kind)
	default:
		var names []string
		for _, o := range params[:min(len(params), 5)] {
			names = append(names, paramName(o))
		}
		step.Why = fmt.Sprintf("%s %s", kind, strings.Join(names, ", "))
		if more := len(params) - len(names); more > 0 {
			step.Why += fmt.Sprintf(" and %d more", more)
		}
	}
	m.steps = append(m.steps, step)
	return params
}

// position matches the position of a type check warning in an expression.
var position = regexp.MustCompile(`<input>:(\d+):(\d+)`)

func typeWarnings(all []v1.ExpressionWarning) []report.ExplainedTypeWarning {
	var out []report.ExplainedTypeWarning
	for _, w := range all {
		one := report.ExplainedTypeWarning{Field: w.FieldRef, Warning: clip(w.Warning, 4*maxText)}
		if at := position.FindStringSubmatch(w.Warning); at != nil {
			one.Line, _ = strconv.Atoi(at[1])
			one.Column, _ = strconv.Atoi(at[2])
		}
		out = append(out, one)
	}
	return out
}
