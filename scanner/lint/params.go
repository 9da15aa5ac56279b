package lint

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// checkParams reports params that are not there, not looked for or not looked up
// where they are (k8s.io/apiserver/pkg/admission/plugin/policy/generic,
// CollectParams).
func checkParams(_ context.Context, c *cluster) {
	for _, p := range c.policies {
		if p.linted && p.Spec.ParamKind != nil {
			c.checkParamKind(p)
		}
		for _, b := range p.bindings {
			c.checkParamRef(p, b)
		}
	}
}

func (c *cluster) checkParamKind(p *policySubject) {
	kind := *p.Spec.ParamKind
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	if _, ok := c.State.Resource(gvk); ok {
		return
	}
	r := remark{
		rule: report.RuleUnknownParamKind, object: p.Source, fields: []string{"spec.paramKind"},
		message: fmt.Sprintf("nothing defines paramKind %s %s: as long as that is so, %s", kind.APIVersion, kind.Kind, outcome(p, "that the policy matches through a binding")),
		hint:    "add its CustomResourceDefinition to the repository or give it with --context",
	}
	if admission.BuiltinGroup(gvk.Group) {
		r.severity = report.SeverityError
		r.message = fmt.Sprintf("Kubernetes %s does not serve paramKind %s %s: %s", admission.KubernetesVersion, kind.APIVersion, kind.Kind, outcome(p, "that the policy matches through a binding"))
		r.hint = "correct apiVersion and kind"
		c.add(r)
		return
	}
	c.missing(r)
}

// outcome is what becomes of requests for which a policy cannot be configured.
func outcome(p *policySubject, which string) string {
	if p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == v1.Ignore {
		return "every request " + which + " passes unjudged, as failurePolicy is Ignore"
	}
	return "every request " + which + " is denied, whatever the binding's validationActions"
}

// checkParamRef looks at the paramRef of a binding as its policy takes it.
func (c *cluster) checkParamRef(p *policySubject, b *bindingSubject) {
	kind, ref := p.Spec.ParamKind, b.Spec.ParamRef
	switch {
	case !b.linted || kind == nil && ref == nil:
	case kind == nil:
		c.add(remark{
			rule: report.RuleUnusedParamRef, object: b.Source, fields: []string{"spec.paramRef"},
			message: fmt.Sprintf("policy %q has no paramKind, so this paramRef is not looked at", p.Name),
			hint:    "remove paramRef, or give the policy a paramKind",
		})
	default:
		resource, ok := c.State.Resource(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
		switch {
		case !ok: // told of the policy, and denied before params are looked for
		case ref == nil:
			c.nullParams(p, b)
		default:
			c.checkReference(p, b, resource)
		}
	}
}

// nullParams: a policy that asks whether params is null knows what it does.
func (c *cluster) nullParams(p *policySubject, b *bindingSubject) {
	r := remark{
		rule: report.RuleNullParams, object: b.Source, fields: []string{"spec.paramRef"},
		message: fmt.Sprintf("policy %q takes params of kind %s and this binding has no paramRef: params is null", p.Name, p.Spec.ParamKind.Kind),
		hint:    "add a paramRef, or have the policy ask params == null first",
	}
	if slices.ContainsFunc(expressionsOf(p), func(e expression) bool { return asksNull.MatchString(e.text) }) {
		r.severity = report.SeverityNote
	}
	c.add(r)
}

var asksNull = regexp.MustCompile(`\bparams\s*[!=]=\s*null\b|\bnull\s*[!=]=\s*params\b`)

// checkReference: first where params are looked up, then whether one is there.
func (c *cluster) checkReference(p *policySubject, b *bindingSubject, kind admission.Resource) {
	ref := b.Spec.ParamRef
	switch {
	case !kind.Namespaced && ref.Namespace != "":
		c.add(remark{
			rule: report.RuleParamScope, object: b.Source, fields: []string{"spec.paramRef.namespace"},
			message: "paramRef.namespace must not be provided for a cluster-scoped `paramKind`: " + outcome(p, "that matches"),
			hint:    fmt.Sprintf("remove the namespace: %s is cluster-scoped", kind.Kind.Kind),
		})
	case kind.Namespaced && ref.Namespace == "" && c.outsideNamespaces(p, b):
	default:
		c.checkParamExists(p, b, kind)
	}
}

// outsideNamespaces reports requests that have no namespace in which a param could
// be looked up. It tells whether none has.
func (c *cluster) outsideNamespaces(p *policySubject, b *bindingSubject) bool {
	var without []string
	matched := c.coverage.Binding(b.ValidatingAdmissionPolicyBinding, p.matched)
	inside := false
	for _, s := range matched {
		if s.InNamespace() {
			inside = true
		} else if name := nameOf(s); !slices.Contains(without, name) {
			without = append(without, name)
		}
	}
	if len(without) == 0 {
		return false
	}
	r := remark{
		rule: report.RuleParamScope, object: b.Source, fields: []string{"spec.paramRef"},
		message: fmt.Sprintf("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources: %s", outcome(p, "for "+abbreviate(without))),
		hint:    "give paramRef a namespace, or match no cluster-scoped resources",
	}
	if inside {
		r.severity = report.SeverityWarning
	}
	c.add(r)
	return !inside
}

// nameOf is how rules name what is asked for.
func nameOf(s policy.Sight) string {
	if s.Subresource != "" {
		return s.Resource.Resource + "/" + s.Subresource
	}
	return s.Resource.Resource
}

func abbreviate(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// checkParamExists reports params that are nowhere.
func (c *cluster) checkParamExists(p *policySubject, b *bindingSubject, kind admission.Resource) {
	ref := b.Spec.ParamRef
	if c.hasParam(ref, kind) {
		return
	}
	field, what := "spec.paramRef.name", fmt.Sprintf("named %q", ref.Name)
	if ref.Name == "" {
		field, what = "spec.paramRef.selector", "that the selector selects"
	}
	where := " in any namespace"
	switch {
	case !kind.Namespaced:
		where = ""
	case ref.Namespace != "":
		where = fmt.Sprintf(" in namespace %q", ref.Namespace)
	}
	r := remark{
		rule: report.RuleMissingParam, object: b.Source, fields: []string{field},
		message: fmt.Sprintf("there is no %s %s%s, and parameterNotFoundAction is Deny: %s", kind.Kind.Kind, what, where, outcome(p, "that matches")),
		hint:    "add the params to the repository or give those that are elsewhere with --context",
	}
	if ref.ParameterNotFoundAction == nil || *ref.ParameterNotFoundAction != v1.DenyAction {
		r.severity = report.SeverityNote
		r.message = fmt.Sprintf("there is no %s %s%s, and parameterNotFoundAction is Allow: the policy is not evaluated", kind.Kind.Kind, what, where)
	}
	c.missing(r)
}

func (c *cluster) hasParam(ref *v1.ParamRef, kind admission.Resource) bool {
	selector := labels.Nothing()
	if ref.Selector != nil {
		// A selector that is none was refused.
		selector, _ = metav1.LabelSelectorAsSelector(ref.Selector)
	}
	return slices.ContainsFunc(c.State.All(kind), func(o *admission.Object) bool {
		if kind.Namespaced && ref.Namespace != "" && c.State.Key(o).Namespace != ref.Namespace {
			return false
		}
		if ref.Name != "" {
			return o.Name() == ref.Name
		}
		return selector.Matches(labels.Set(o.Labels()))
	})
}
