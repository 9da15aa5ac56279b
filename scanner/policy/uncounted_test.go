package policy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/policy/cel"
)

// TestUncounted: expressions have the same result whether their cost is counted or not, and never cost more
// than their bound.
func TestUncounted(t *testing.T) {
	set, err := cel.Environment()
	if err != nil {
		t.Fatal(err)
	}
	env, err := cel.Declare(set, true)
	if err != nil {
		t.Fatal(err)
	}
	g := newGenerator(t)
	compiled, bounded, far, total := 0, 0, 0, testall.Count(2000, 100_000)
	for seed := range uint64(total) {
		g.Rand = rand.New(rand.NewPCG(seed, 7))
		w := &celWriter{generator: g, params: true}
		text := w.expression("bool", 1+g.IntN(4))
		u, err := cel.NewUncounted(env, text)
		if err != nil {
			continue
		}
		compiled++
		checked, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		counted, err := env.Program(checked, celgo.CostTracking(&library.CostEstimator{}))
		if err != nil {
			t.Fatal(err)
		}
		contents := map[string]any{}
		for _, name := range []string{"object", "oldObject", "params"} {
			if contents[name] = nil; !g.oneIn(5) {
				contents[name] = g.vary(pick(g, g.world.objects...), 6).Content()
			}
		}
		if object, ok := contents["object"].(map[string]any); ok && g.oneIn(3) {
			object["names"] = g.listOf(300, func(i int) any { return strings.Repeat("n", i) })
		}
		contents["request"] = map[string]any{
			"name": "web", "namespace": "prod", "operation": "UPDATE", "kind": map[string]any{"group": "", "version": "v1", "kind": "Pod"},
			"userInfo": map[string]any{"username": "jane", "groups": []any{"a", "system:authenticated"}, "extra": map[string]any{"k": []any{"v"}}},
		}
		sizes := cel.SizesOf(contents["object"], contents["oldObject"], contents["params"], contents["request"])
		contents["namespaceObject"] = map[string]any{"metadata": map[string]any{"name": "prod", "labels": map[string]any{"app": "web"}}}
		vars, err := interpreter.NewActivation(contents)
		if err != nil {
			t.Fatal(err)
		}
		want, details, wantErr := counted.Eval(vars)
		got, gotErr := u.Eval(vars)
		if cost := *details.ActualCost(); cost > u.Bound(sizes) {
			t.Errorf("seed %d: costs %d, at most %d of %+v: %s", seed, cost, u.Bound(sizes), sizes, text)
		}
		if u.Bound(sizes) > 200_000 {
			continue
		}
		if bounded++; *details.ActualCost()*50 < u.Bound(sizes) {
			far++
		}
		if (gotErr != nil) != (wantErr != nil) || gotErr == nil && got != want {
			t.Errorf("seed %d: %v, %v, want %v, %v: %s", seed, got, gotErr, want, wantErr, text)
		} else if gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Errorf("seed %d: %v, want %v: %s", seed, gotErr, wantErr, text)
		}
	}
	t.Logf("%d expressions, %d certainly cost little, %d of them 50 times less than their bound", compiled, bounded, far)
	if compiled < total/5 || bounded < compiled/3 {
		t.Errorf("%d expressions, of which %d certainly cost little", compiled, bounded)
	}
}
