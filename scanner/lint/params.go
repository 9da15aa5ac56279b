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

// checkParamKind reports policies whose paramKind is not defined.
func checkParamKind(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		if _, known := c.paramResource(p); p.Spec.ParamKind != nil && !known {
			c.unknownParamKind(p)
		}
	}
}

// paramResource returns the resource of a policy's paramKind; known is false if there is
// none.
func (c *cluster) paramResource(p *policySubject) (resource admission.Resource, known bool) {
	if p.Spec.ParamKind == nil {
		return admission.Resource{}, false
	}
	return c.State.Resource(schema.FromAPIVersionAndKind(p.Spec.ParamKind.APIVersion, p.Spec.ParamKind.Kind))
}

// unknownParamKind adds a remark about the paramKind of a policy.
func (c *cluster) unknownParamKind(p *policySubject) {
	kind := *p.Spec.ParamKind
	result := outcome(p, "that the policy matches through a binding")
	r := remark{object: p.Source, fields: []string{"spec.paramKind"}}
	if admission.BuiltinGroup(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind).Group) {
		r.severity = report.SeverityError
		r.message = fmt.Sprintf("Kubernetes %s does not serve paramKind %s %s: %s", admission.KubernetesVersion(), kind.APIVersion, kind.Kind, result)
		r.hint = "correct apiVersion and kind"
		c.add(r)
		return
	}
	r.message = fmt.Sprintf("nothing defines paramKind %s %s: as long as that is so, %s", kind.APIVersion, kind.Kind, result)
	r.hint = "add its CustomResourceDefinition to the repository or give it with --context"
	c.missing(r)
}

// outcome describes what happens to requests if the params of a policy cannot be found.
func outcome(p *policySubject, which string) string {
	if p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == v1.Ignore {
		if p.mutation != nil {
			return "every request " + which + " passes unchanged, as failurePolicy is Ignore"
		}
		return "every request " + which + " passes unjudged, as failurePolicy is Ignore"
	}
	if p.mutation != nil {
		return "every request " + which + " is denied"
	}
	return "every request " + which + " is denied, whatever the binding's validationActions"
}

// eachBound calls visit for each policy and linted binding of it.
func (c *cluster) eachBound(visit func(p *policySubject, b *bindingSubject)) {
	for _, p := range c.policies {
		for _, b := range p.bindings {
			if b.linted {
				visit(p, b)
			}
		}
	}
}

// checkUnusedParamRef reports bindings with a paramRef for policies without a paramKind.
func checkUnusedParamRef(_ context.Context, c *cluster) {
	c.eachBound(func(p *policySubject, b *bindingSubject) {
		if p.Spec.ParamKind != nil || b.Spec.ParamRef == nil {
			return
		}
		c.add(remark{
			object: b.Source, fields: []string{"spec.paramRef"},
			message: fmt.Sprintf("policy %q has no paramKind, so this paramRef is not looked at", p.Name),
			hint:    "remove paramRef, or give the policy a paramKind",
		})
	})
}

// checkNullParams reports bindings without a paramRef for policies with a paramKind. It is a note
// if the policy compares params with null.
func checkNullParams(_ context.Context, c *cluster) {
	c.eachBound(func(p *policySubject, b *bindingSubject) {
		if _, known := c.paramResource(p); !known || b.Spec.ParamRef != nil {
			return
		}
		r := remark{
			object: b.Source, fields: []string{"spec.paramRef"},
			message: fmt.Sprintf("policy %q takes params of kind %s and this binding has no paramRef: params is null", p.Name, p.Spec.ParamKind.Kind),
			hint:    "add a paramRef, or have the policy ask params == null first",
		}
		if slices.ContainsFunc(p.expressions, func(e expression) bool { return comparesNull.MatchString(e.text) }) {
			r.severity = report.SeverityNote
		}
		c.add(r)
	})
}

var comparesNull = regexp.MustCompile(`\bparams\s*[!=]=\s*null\b|\bnull\s*[!=]=\s*params\b`)

// eachParamRef calls visit for each policy with a known paramKind and each linted binding of it
// with a paramRef.
func (c *cluster) eachParamRef(visit func(p *policySubject, b *bindingSubject, kind admission.Resource)) {
	c.eachBound(func(p *policySubject, b *bindingSubject) {
		if kind, known := c.paramResource(p); known && b.Spec.ParamRef != nil {
			visit(p, b, kind)
		}
	})
}

// checkParamScope reports params that the API server cannot look up in the namespace of the binding
// (k8s.io/apiserver/pkg/admission/plugin/policy/generic, CollectParams).
func checkParamScope(_ context.Context, c *cluster) {
	c.eachParamRef(func(p *policySubject, b *bindingSubject, kind admission.Resource) {
		ref := b.Spec.ParamRef
		switch {
		case !kind.Namespaced && ref.Namespace != "":
			c.add(remark{
				object: b.Source, fields: []string{"spec.paramRef.namespace"},
				message: "paramRef.namespace must not be provided for a cluster-scoped `paramKind`: " + outcome(p, "that matches"),
				hint:    fmt.Sprintf("remove the namespace: %s is cluster-scoped", kind.Kind.Kind),
			})
		case kind.Namespaced && ref.Namespace == "":
			c.checkRequestNamespaces(p, b)
		}
	})
}

// checkRequestNamespaces reports requests without a namespace in which a param could be looked up.
func (c *cluster) checkRequestNamespaces(p *policySubject, b *bindingSubject) {
	inside, outside := c.scopes(p, b)
	if len(outside) == 0 {
		return
	}
	r := remark{
		object: b.Source, fields: []string{"spec.paramRef"},
		message: fmt.Sprintf("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources: %s", outcome(p, "for "+abbreviate(outside))),
		hint:    "give paramRef a namespace, or match no cluster-scoped resources",
	}
	if inside {
		r.severity = report.SeverityWarning
	}
	c.add(r)
}

// scopes returns whether a policy matches namespaced requests through a binding, and the names of
// the cluster-scoped resources that it matches.
func (c *cluster) scopes(p *policySubject, b *bindingSubject) (inside bool, outside []string) {
	for _, s := range c.coverage.Binding(b.ValidatingAdmissionPolicyBinding, p.matched) {
		if s.InNamespace() {
			inside = true
		} else if name := nameOf(s); !slices.Contains(outside, name) {
			outside = append(outside, name)
		}
	}
	return inside, outside
}

// nameOf returns a resource and subresource in the notation of rules.
func nameOf(s policy.RequestKind) string {
	if s.Subresource != "" {
		return s.Resource.Resource + "/" + s.Subresource
	}
	return s.Resource.Resource
}

// abbreviate returns the first names of a list and the number of the others.
func abbreviate(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// checkMissingParam reports params that do not exist.
func checkMissingParam(_ context.Context, c *cluster) {
	c.eachParamRef(func(p *policySubject, b *bindingSubject, kind admission.Resource) {
		if c.canLookUp(p, b, kind) && !c.hasParam(b.Spec.ParamRef, kind) {
			c.missingParam(p, b, kind)
		}
	})
}

// canLookUp reports whether the API server would try to look up a param. If not, the rule
// param-scope reports why.
func (c *cluster) canLookUp(p *policySubject, b *bindingSubject, kind admission.Resource) bool {
	hasNamespace := b.Spec.ParamRef.Namespace != ""
	if !kind.Namespaced || hasNamespace {
		return kind.Namespaced == hasNamespace
	}
	inside, outside := c.scopes(p, b)
	return inside || len(outside) == 0
}

// missingParam adds a remark about the paramRef of a binding.
func (c *cluster) missingParam(p *policySubject, b *bindingSubject, kind admission.Resource) {
	ref := b.Spec.ParamRef
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
		object: b.Source, fields: []string{field},
		message: fmt.Sprintf("there is no %s %s%s, and parameterNotFoundAction is Deny: %s", kind.Kind.Kind, what, where, outcome(p, "that matches")),
		hint:    "add the params to the repository, or give those of the cluster with --context",
	}
	if ref.ParameterNotFoundAction == nil || *ref.ParameterNotFoundAction != v1.DenyAction {
		r.severity = report.SeverityNote
		r.message = fmt.Sprintf("there is no %s %s%s, and parameterNotFoundAction is Allow: the policy is not evaluated", kind.Kind.Kind, what, where)
	}
	c.missing(r)
}

// hasParam reports whether an object that a paramRef names or selects is known.
func (c *cluster) hasParam(ref *v1.ParamRef, kind admission.Resource) bool {
	selector := labels.Nothing()
	if ref.Selector != nil {
		// An API server accepted the selector, so it parses.
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
