package policy_test

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/scanner/admission"
)

// policy returns a policy and its bindings.
func (g *generator) policy(name string) []*admission.Object {
	spec := map[string]any{"matchConstraints": g.match(true)}
	w := &celWriter{generator: g, authorizer: true}
	kind := pick(g, "", "", "", "ConfigMap", "ConfigMap", "Limit", "Quota", "Missing")
	if kind != "" {
		w.params = true
		spec["paramKind"] = map[string]any{"apiVersion": paramVersion(g, kind), "kind": kind}
	}
	if g.oneIn(2) {
		spec["failurePolicy"] = pick(g, "Fail", "Ignore")
	}
	// The checks of creation compile match conditions without the variables; stored ones may read
	// them.
	conditions := g.listOf(pick(g, 0, 0, 3), func(i int) any {
		return map[string]any{"name": fmt.Sprint("c", i), "expression": w.expression("bool", 1+g.IntN(2))}
	})
	g.declare(spec, w)
	if g.oneIn(12) {
		conditions = append(conditions, g.spend(spec, w)...)
	}
	g.put(spec, "matchConditions", conditions)
	if spec["validations"] == nil {
		g.put(spec, "validations", g.listOf(5, func(int) any { return g.validation(w) }))
		g.put(spec, "auditAnnotations", g.annotations(w))
	}
	all := []*admission.Object{registration("ValidatingAdmissionPolicy", name, spec)}
	for i := range 1 + g.IntN(3) {
		all = append(all, g.binding(fmt.Sprint("b", i, "-", name), name, kind))
	}
	return all
}

func registration(kind, name string, spec map[string]any) *admission.Object {
	return admission.NewObject(map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": spec,
	})
}

func paramVersion(g *generator, kind string) string {
	switch kind {
	case "ConfigMap":
		return "v1"
	case "Limit":
		return "rules.example.com/v1"
	}
	return pick(g, "rules.example.com/v1", "rules.example.com/v2", "rules.example.com/v2")
}

// listOf returns at most a number of elements.
func (g *generator) listOf(most int, element func(i int) any) []any {
	var all []any
	for i := range g.IntN(most + 1) {
		all = append(all, element(i))
	}
	return all
}

// put sets a field unless the list is empty.
func (g *generator) put(m map[string]any, field string, list []any) {
	if len(list) > 0 {
		m[field] = list
	}
}

// declare adds variables to a policy; each may read the previous ones. One in ten has the name of a
// previous one, and reads none: a variable that reads itself crashes upstream (TestCircularVariable).
func (g *generator) declare(spec map[string]any, w *celWriter) {
	var all []any
	for i := range g.IntN(5) {
		name, reader := fmt.Sprint("v", i), *w
		if g.oneIn(10) && len(w.names) > 0 {
			name, reader.names = pick(g, w.names...), nil
		}
		kind := pick(g, "bool", "int", "text", "list", "any", "any-list", "map", "optional")
		all = append(all, map[string]any{"name": name, "expression": reader.expression(kind, 1+g.IntN(3))})
		w.names = append(w.names, name)
	}
	g.put(spec, "variables", all)
}

// spend adds validations, messages, annotations and conditions to a policy whose total cost is about
// the server's budgets: comparing a long text with itself has a high cost and takes no time.
func (g *generator) spend(spec map[string]any, w *celWriter) (conditions []any) {
	long := fmt.Sprintf("'xxxxxxxxxx'.replace('x', 'yyyyyyyyyy').replace('y', '%s')", strings.Repeat("a", 50+g.IntN(52)))
	variables, _ := spec["variables"].([]any)
	spec["variables"] = append(variables, map[string]any{"name": "long", "expression": long})
	const much = "variables.long.contains(variables.long)"
	var validations, annotations []any
	costly, telling := g.IntN(4), g.IntN(4) // of four validations and their messages
	for range 4 + g.IntN(24) {
		v := map[string]any{"expression": "(" + w.expression("bool", 1) + ")", "message": "no"}
		if g.IntN(4) < costly {
			v["expression"] = much + " && " + v["expression"].(string)
		}
		if g.IntN(4) < telling {
			v["messageExpression"] = much + " ? " + w.expression("text", 0) + " : 'x'"
		}
		validations = append(validations, v)
	}
	if g.oneIn(3) {
		for i := range g.IntN(20) {
			annotations = append(annotations, map[string]any{"key": fmt.Sprint("k", i), "valueExpression": much + " ? 'a' : 'b'"})
		}
	}
	if g.oneIn(3) {
		for i := range g.IntN(6) {
			conditions = append(conditions, map[string]any{"name": fmt.Sprint("s", i), "expression": "[" + long + "].all(l, l.contains(l))"})
		}
	}
	g.put(spec, "validations", validations)
	g.put(spec, "auditAnnotations", annotations)
	return conditions
}

func (g *generator) validation(w *celWriter) any {
	v := map[string]any{"expression": w.expression("bool", 1+g.IntN(4))}
	if g.oneIn(2) {
		v["message"] = pick(g, "no", "  padded  ", "a longer message: with 'quotes', \"others\" and ünïcödé", "tab\there")
	}
	if g.oneIn(2) {
		inner := *w
		inner.authorizer = g.oneIn(20)
		v["messageExpression"] = inner.expression("message-text", 1+g.IntN(2))
	}
	if g.oneIn(3) {
		v["reason"] = pick(g, "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
	}
	return v
}

func (g *generator) annotations(w *celWriter) []any {
	if g.oneIn(2) {
		return nil
	}
	inner := *w
	inner.authorizer = g.oneIn(20)
	return g.listOf(3, func(i int) any {
		return map[string]any{"key": fmt.Sprint("k", i), "valueExpression": inner.expression("note-text", 1+g.IntN(2))}
	})
}

// match returns matchConstraints, or a binding's matchResources.
func (g *generator) match(policy bool) map[string]any {
	m := map[string]any{}
	if rules := g.listOf(3, func(int) any { return g.rule() }); len(rules) > 0 {
		m["resourceRules"] = rules
	}
	if policy && (m["resourceRules"] == nil || !g.oneIn(3)) {
		m["resourceRules"] = []any{map[string]any{"apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "operations": []any{"*"}, "resources": []any{pick(g, "*", "*/*")}}}
	}
	if g.oneIn(6) {
		m["excludeResourceRules"] = []any{g.rule()}
	}
	if g.oneIn(2) {
		m["matchPolicy"] = pick(g, "Exact", "Equivalent")
	}
	if g.oneIn(4) {
		m["namespaceSelector"] = g.selector("env", "prod", "dev", "kubernetes.io/metadata.name", "shop")
	}
	if g.oneIn(4) {
		m["objectSelector"] = g.selector("app", "web", "", "tier", "gold")
	}
	return m
}

// selector returns a selector for one of the values of a label, or of another one.
func (g *generator) selector(key, value, value2, other, otherValue string) map[string]any {
	switch g.IntN(6) {
	case 0:
		return map[string]any{"matchLabels": map[string]any{key: value}}
	case 1:
		return map[string]any{"matchExpressions": []any{map[string]any{"key": key, "operator": pick(g, "In", "NotIn"), "values": []any{value, value2}}}}
	case 2:
		return map[string]any{"matchExpressions": []any{map[string]any{"key": key, "operator": pick(g, "Exists", "DoesNotExist")}}}
	case 3:
		return map[string]any{"matchLabels": map[string]any{other: otherValue}}
	case 4:
		return map[string]any{"matchLabels": map[string]any{other: otherValue}, "matchExpressions": []any{map[string]any{"key": key, "operator": "NotIn", "values": []any{value2}}}}
	}
	return map[string]any{}
}

// rule returns a resource rule.
func (g *generator) rule() map[string]any {
	target := pick(g,
		[3]string{"apps", "v1", "deployments"}, [3]string{"apps", "*", "*"}, [3]string{"", "v1", "pods"}, [3]string{"", "v1", "configmaps"},
		[3]string{"", "*", "namespaces"}, [3]string{"*", "*", "*/*"}, [3]string{"*", "*", "*"}, [3]string{"*", "*", "*/scale"}, [3]string{"*", "*", "*/status"}, [3]string{"apps", "v1", "deployments/*"}, [3]string{"apps", "v1", "deployments/scale"},
		[3]string{"autoscaling", "v1", "horizontalpodautoscalers"}, [3]string{"autoscaling", "v2", "horizontalpodautoscalers"}, [3]string{"example.com", "v1", "widgets"}, [3]string{"example.com", "v2", "widgets"}, [3]string{"example.com", "v2", "widgets/status"},
		[3]string{"rules.example.com", "v1", "limits"}, [3]string{"rbac.authorization.k8s.io", "v1", "clusterroles"}, [3]string{"batch", "v1", "jobs"}, [3]string{"networking.k8s.io", "v1", "*"})
	r := map[string]any{
		"apiGroups": []any{target[0]}, "apiVersions": []any{target[1]}, "resources": []any{target[2]},
		"operations": pick(g, []any{"*"}, []any{"CREATE", "UPDATE"}, []any{"CREATE"}, []any{"UPDATE", "DELETE"}, []any{"DELETE"}),
	}
	if g.oneIn(6) {
		r["scope"] = pick(g, "*", "Namespaced", "Cluster")
	}
	if g.oneIn(6) {
		r["resourceNames"] = pick(g, []any{"web"}, []any{"x", "limits", "w"}, []any{"web-"}, []any{"shop"})
	}
	return r
}

func (g *generator) binding(name, policy, kind string) *admission.Object {
	spec := map[string]any{
		"policyName":        policy,
		"validationActions": pick(g, []any{"Deny"}, []any{"Deny"}, []any{"Warn"}, []any{"Audit"}, []any{"Warn", "Audit"}, []any{"Deny", "Audit"}),
	}
	if g.oneIn(3) {
		spec["matchResources"] = g.match(false)
	}
	if kind == "" && !g.oneIn(15) || kind != "" && g.oneIn(10) {
		return registration("ValidatingAdmissionPolicyBinding", name, spec)
	}
	ref := map[string]any{"parameterNotFoundAction": pick(g, "Allow", "Deny")}
	if g.oneIn(2) {
		ref["name"] = pick(g, "limits", "limits", "more", "strict", "loose", "empty", "bare", "nothing")
	} else {
		ref["selector"] = g.selector("tier", "gold", "silver", "kind", "limits")
	}
	if kind != "Limit" && g.oneIn(2) || g.oneIn(20) {
		ref["namespace"] = pick(g, "shop", "shop", "test", "default", "nowhere")
	}
	spec["paramRef"] = ref
	return registration("ValidatingAdmissionPolicyBinding", name, spec)
}
