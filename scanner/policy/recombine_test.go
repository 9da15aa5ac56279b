package policy_test

import (
	"maps"
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
)

// recombine returns a scene with the state of a few suites, some of their policies, changed, and
// requests of these suites, some of them changed.
func (g *generator) recombine() scene {
	var s scene
	taken := map[string]bool{} // a server has each name once
	for _, i := range g.Perm(len(g.suites))[:1+g.IntN(3)] {
		m := g.suites[i]
		s.state = append(s.state, m.state...)
		for _, p := range m.policies {
			key := p.GroupVersionKind().Kind + p.Name()
			if g.IntN(10) > 0 && !taken[key] {
				taken[key] = true
				s.policies = append(s.policies, admission.NewObject(g.change(p.Content(), policyChanges, 12).(map[string]any)))
			}
		}
		for range 1 + g.IntN(3) {
			for _, in := range m.requests {
				s.requests = append(s.requests, g.changeRequest(in))
			}
		}
	}
	g.Shuffle(len(s.requests), func(i, j int) { s.requests[i], s.requests[j] = s.requests[j], s.requests[i] })
	s.requests = s.requests[:min(len(s.requests), 60)]
	return s
}

// policyChanges are other values of fields of policies and bindings.
var policyChanges = map[string][]any{
	"failurePolicy":           {"Fail", "Ignore"},
	"matchPolicy":             {"Exact", "Equivalent"},
	"parameterNotFoundAction": {"Allow", "Deny"},
	"scope":                   {"*", "Namespaced", "Cluster"},
	"validationActions":       {[]any{"Deny"}, []any{"Warn"}, []any{"Audit"}, []any{"Warn", "Audit"}, []any{"Deny", "Audit"}},
	"operations":              {[]any{"CREATE"}, []any{"UPDATE"}, []any{"CREATE", "UPDATE", "DELETE"}, []any{"*"}},
	"apiGroups":               {[]any{"*"}, []any{"", "apps"}},
	"apiVersions":             {[]any{"*"}, []any{"v1"}, []any{"v2"}},
	"resources":               {[]any{"*"}, []any{"*/*"}, []any{"pods", "deployments"}, []any{"configmaps"}},
	"namespaceSelector": {
		map[string]any{}, map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "default"}},
		map[string]any{"matchExpressions": []any{map[string]any{"key": "env", "operator": "DoesNotExist"}}},
	},
	"objectSelector": {map[string]any{}, map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Exists"}}}},
	"reason":         {"Forbidden", "Invalid", "RequestEntityTooLarge"},
	"expression":     {"true", "false", "1 / 0 == 1", "has(object.spec)", "object.metadata.name.size() < 4", "oldObject == null", "namespaceObject == null", "request.operation == 'CREATE'", "has(request.namespace)"},
	"messageExpression": {
		"''", "'  padded  '", "'two\\nlines'", "object.metadata.name + '!'", "string(1/0)", "request.name", "'x'.replace('x', object.kind)",
	},
	"valueExpression": {"''", "object.metadata.name + ''", "string(object.spec.nothing)", "request.userInfo.username"},
}

// change copies a value, replacing about one in odds of the fields that the table has.
func (g *generator) change(value any, table map[string][]any, odds int) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			out[key] = g.change(v[key], table, odds)
			if choices := table[key]; len(choices) > 0 && g.IntN(odds) == 0 {
				out[key] = choices[g.IntN(len(choices))]
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = g.change(v[i], table, odds)
		}
		return out
	}
	return value
}

// changeAsk drops fields of one in three objects and changes the operation of some requests.
func (g *generator) changeRequest(in admission.ClientRequest) admission.ClientRequest {
	if in.Object != nil && g.IntN(3) == 0 {
		in.Object = admission.NewObject(g.drop(in.Object.Content(), 0).(map[string]any))
	}
	if in.Subresource == "" && in.Object != nil && in.OldObject == nil && g.IntN(6) == 0 {
		in.Operation, in.OldObject, in.Object = "DELETE", in.Object, nil
	}
	return in
}

func (g *generator) drop(value any, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			if depth < 2 || g.IntN(8) > 0 {
				out[key] = g.drop(v[key], depth+1)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if g.IntN(8) > 0 {
				out = append(out, g.drop(e, depth+1))
			}
		}
		return out
	}
	return value
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
