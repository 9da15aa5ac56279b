package expressions_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		expression, before, after string
		differ                    bool
	}{
		{"object.spec.a == 1", `spec: {a: 1, b: 1}`, `spec: {a: 1, b: 2}`, false},
		{"object.spec.a == 1", `spec: {a: 1}`, `spec: {a: 2}`, true},
		{"object.spec.a == 1", `spec: {a: 1}`, `spec: {}`, true},
		{"object.spec == object.old", `spec: {a: 1, b: 1}`, `spec: {a: 1, b: 2}`, true},
		{"has(object.spec.a)", `spec: {a: 1}`, `spec: {a: 2}`, false},
		{"has(object.spec.a)", `spec: {a: 1}`, `spec: {}`, true},
		{"has(object.spec.a.b)", `spec: {a: {b: 1}}`, `spec: {}`, true},
		{"object.?a.b.orValue(1) == 1", `a: {c: 1}`, `a: {c: 2}`, false},
		{"object.?a.b.orValue(1) == 1", `a: {c: 1}`, `a: {b: 2}`, true},
		{"object.l.all(x, x.a == 1)", `l: [{a: 1, b: 1}]`, `l: [{a: 1, b: 2}]`, false},
		{"object.l.all(x, x.a == 1)", `l: [{a: 1}]`, `l: [{a: 2}]`, true},
		{"object.l.all(x, x.a == 1)", `l: [{a: 1}]`, `l: [{a: 1}, {a: 1}]`, true},
		{"object.l.all(x, true)", `l: [{a: 1}]`, `l: [{a: 2}]`, false},
		{"object.l.all(x, true)", `l: [{a: 1}]`, `l: [{a: 1}, {a: 1}]`, true},
		{"size(object.l) == 1", `l: [1]`, `l: [2]`, true},
		{"object.m.all(k, k != 'c')", `m: {a: 1}`, `m: {b: 1}`, true},
		{"object.m.exists(k, object.m[k] == 2)", `m: {a: 1}`, `m: {a: 2}`, true},
		{"object.m.all(k, v, v.a == 1)", `m: {a: {a: 1, b: 1}}`, `m: {a: {a: 1, b: 2}}`, false},
		{"object.m.all(k, v, v.a == 1)", `m: {a: {a: 1}}`, `m: {a: {a: 2}}`, true},
		{"object.l[1] == 1", `l: [1, 2]`, `l: [1, 3]`, true},
		{"object.m['a.b/c'] == 'x'", `m: {a.b/c: x, d: 1}`, `m: {a.b/c: x, d: 2}`, false},
		{"object.l.filter(x, x.a == 1).all(x, x.b == 1)", `l: [{a: 1, b: 1}]`, `l: [{a: 1, b: 2}]`, true},
		{"object.l.map(x, x.a).exists(y, y == 1)", `l: [{a: 1, b: 1}]`, `l: [{a: 1, b: 2}]`, false},
		{"object.l.map(x, x.a).exists(y, y == 1)", `l: [{a: 1}]`, `l: [{a: 2}]`, true},
		{"cel.bind(x, object.spec, x.a == 1)", `spec: {a: 1}`, `spec: {a: 2}`, true},
		{"object.a == 1", `a: 1`, `a: {b: 1}`, true},
		{"object.a.b == 1", `a: 1`, `a: {b: 1}`, true},
	} {
		reads, err := expressions.AllReads(c.expression)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		var before, after map[string]any
		for text, into := range map[string]*map[string]any{c.before: &before, c.after: &after} {
			if err := yaml.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		differ, differences := false, expressions.Differences(before, after)
		for _, r := range reads {
			if r.Path[0] != "object" || !r.Differ(before, after) {
				continue
			}
			if differ = true; !r.Meets(differences) {
				t.Errorf("%s: %v meets none of the differences %v of %s and %s", c.expression, r, differences, c.before, c.after)
			}
		}
		if differ != c.differ {
			t.Errorf("%s reads a difference of %s and %s: %v, want %v", c.expression, c.before, c.after, differ, c.differ)
		}
	}
}
