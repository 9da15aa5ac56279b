package locate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/scanner/locate"
)

// FuzzFields passes any text as an expression and as a variable: Fields must never panic, hang or
// return an invalid path.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{
		"object.spec.replicas <= 10",
		"object.spec.template.spec.containers.all(c, c.image.startsWith('x'))",
		"object.spec.ports.filter(p, p > 80).map(p, p * 2).exists(p, p in [1, 2])",
		"object.metadata.?labels[?'app'].orValue('') == variables.v",
		"{'a': object.spec, ?'b': object.?c}.a.replicas > 1 ? [1][0] == 1 : optional.none().hasValue()",
		"cel.bind(x, object, x.spec.ports[x.spec.replicas] / 0 == 1)",
		"object.data.transformMap(k, v, v + k).all(k, v, k.matches(v)) || has(object.x) && !has(object.spec)",
		"quantity('1Gi').isLessThan(quantity(object.spec.maxSurge)) || url(object.metadata.name).getHost() == ''",
		"object.spec.ports.sortBy(p, -p).sum() - 1 == dyn(object) || type(object) == map || sets.contains([1], object.spec.ports)",
		"b'x' + bytes(object.metadata.name) == null && timestamp('2020-01-01T00:00:00Z').getFullYear() > 1u",
	} {
		f.Add(seed, "object.spec.?empty.orValue([1])")
	}
	finder := newFinder(f)
	object, before := parse(f, shop), parse(f, old)
	f.Fuzz(func(t *testing.T, expression, variable string) {
		start := cputime.Used()
		defer func() {
			if took := cputime.Used() - start; took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		}()
		for _, path := range finder.Fields(locate.Question{
			Expression: expression, Variables: map[string]string{"v": variable, "w": expression},
			Object: object, OldObject: before, Params: before, Request: before,
		}) {
			if path == "" || strings.HasPrefix(path, ".") {
				t.Errorf("%q is no path", path)
			}
		}
	})
}

// TestHostile checks that the work for expressions made to be expensive is bounded.
func TestHostile(t *testing.T) {
	doubling := map[string]string{"v0": "[object.spec.replicas]", "s0": "object.metadata.name + 'xxxxxxxxxxxxxxxx'", "d0": "object.spec.replicas", "n0": "[object.metadata.name]"}
	for i := 1; i < 3000; i++ {
		doubling[fmt.Sprint("v", i)] = fmt.Sprintf("variables.v%d + variables.v%d", i-1, i-1)
		doubling[fmt.Sprint("s", i)] = fmt.Sprintf("variables.s%d + variables.s%d", i-1, i-1)
		doubling[fmt.Sprint("n", i)] = fmt.Sprintf("[variables.n%d, variables.n%d]", i-1, i-1)
		doubling[fmt.Sprint("d", i)] = strings.Repeat("(0 + ", 200) + fmt.Sprintf("variables.d%d", i-1) + strings.Repeat(")", 200)
	}
	loops := "object.spec.ports"
	for i := range 30 {
		loops = fmt.Sprintf("%s.map(x%d, object.spec.ports).filter(y%d, true)[0]", loops, i, i)
	}
	nested := "true"
	for i := range 40 {
		nested = fmt.Sprintf("[1, 2, 3, 4].all(x%d, %s)", i, nested)
	}
	for name, expression := range map[string]string{
		"lists that double":   "variables.v2999.size() == 0",
		"strings that double": "variables.s2999 == ''",
		"deep variables":      "variables.d2999 == 0",
		"lists of 2^40":       "variables.v40.size() == 0",
		"strings of 2^40":     "variables.s40 == ''",
		"nested lists":        "variables.n40 == variables.n40",
		"long":                "object.spec.replicas == " + strings.Repeat("1 + ", 20000) + "1",
		"deep":                strings.Repeat("(", 5000) + "object" + strings.Repeat(")", 5000),
		"negations":           strings.Repeat("!", 5000) + "object.spec.paused",
		"loops":               loops + " == []",
		"nested loops":        "!" + nested,
		"many operands":       strings.Repeat("object.spec.replicas == 1 || ", 3000) + "false",
		"self":                "[object].all(o, [o].all(o, [o, o].all(o, o == object && o.spec == 1)))",
	} {
		t.Run(name, func(t *testing.T) {
			start := cputime.Used()
			finder := newFinder(t)
			finder.Fields(locate.Question{Expression: expression, Variables: doubling, Object: parse(t, shop)})
			if took := cputime.Used() - start; took > 3*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
}

// BenchmarkFields measures one finding whose expression is already parsed.
func BenchmarkFields(b *testing.B) {
	finder := newFinder(b)
	q := locate.Question{
		Expression: "variables.all.all(c, c.?securityContext.?runAsUser.orValue(1000) != 0)", Variables: variables,
		Object: parse(b, shop), OldObject: parse(b, old),
	}
	for b.Loop() {
		if len(finder.Fields(q)) != 1 {
			b.Fatal("no field")
		}
	}
}
