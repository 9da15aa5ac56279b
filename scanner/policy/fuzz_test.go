package policy_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission"
)

// FuzzUpstreamAgrees generates policies, bindings, params, namespaces and objects
// from a seed - by recombining and changing what the suites hold - and demands
// the answers of the API server's own plugin. Each seed compares about 25 pairs
// of policy set and request.
//
// PREADMIT_FUZZ_PAIRS=200000 go test -run FuzzUpstreamAgrees ./scanner/policy
// compares that many, from seeds that follow each other.
func FuzzUpstreamAgrees(f *testing.F) {
	all := loadMaterial(f)
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Add(uint64(1618)) // deletes in a namespace that does not exist
	if wanted, _ := strconv.Atoi(os.Getenv("PREADMIT_FUZZ_PAIRS")); wanted > 0 {
		pairs, seed := 0, uint64(1000)
		for ; pairs < wanted && !f.Failed(); seed++ {
			pairs += compareSeed(f, all, seed)
		}
		f.Logf("%d pairs compared, seeds 1000 to %d", pairs, seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		compareSeed(t, all, seed)
	})
}

func compareSeed(t testing.TB, all []material, seed uint64) int {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), all: all}
	state, policies, asks := g.generate()
	pairs := compare(t, state, policies, asks)
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
	return pairs
}

// generator recombines material.
type generator struct {
	*rand.Rand
	all []material
}

// generate takes the state of a few suites, some of their policies, changed, and
// requests of these suites, some of them changed.
func (g *generator) generate() (state, policies []*admission.Object, asks []admission.Ask) {
	for range 1 + g.IntN(3) {
		m := g.all[g.IntN(len(g.all))]
		state = append(state, m.state...)
		for _, p := range m.policies {
			if g.IntN(10) > 0 {
				policies = append(policies, g.changePolicy(p))
			}
		}
		for _, ask := range m.asks {
			asks = append(asks, g.changeAsk(ask))
		}
	}
	g.Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
	return state, policies, asks[:min(len(asks), 25)]
}

// changes are values that fields of policies and bindings take.
var changes = map[string][]any{
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

func (g *generator) changePolicy(o *admission.Object) *admission.Object {
	return &admission.Object{Content: g.change(o.Content, 12).(map[string]any)}
}

// change copies a value, replacing about one in odds of the fields it knows.
func (g *generator) change(value any, odds int) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			out[key] = g.change(v[key], odds)
			if choices := changes[key]; len(choices) > 0 && g.IntN(odds) == 0 {
				out[key] = choices[g.IntN(len(choices))]
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = g.change(v[i], odds)
		}
		return out
	}
	return value
}

// changeAsk drops fields of one in three objects and moves some requests to
// another operation.
func (g *generator) changeAsk(ask admission.Ask) admission.Ask {
	if ask.Object != nil && g.IntN(3) == 0 {
		ask.Object = &admission.Object{Content: g.drop(ask.Object.Content, 0).(map[string]any)}
	}
	if ask.Subresource == "" && ask.Object != nil && ask.OldObject == nil && g.IntN(6) == 0 {
		ask.Operation, ask.OldObject, ask.Object = "DELETE", ask.Object, nil
	}
	return ask
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
