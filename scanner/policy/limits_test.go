package policy_test

import (
	"fmt"
	"strings"
	"testing"
)

// repeated returns the variables v0, v1, ... vn; each is step with the previous one in place of
// %[1]s.
func repeated(first, step string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  variables:\n  - {name: v0, expression: \"%s\"}\n", first)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  - {name: v%d, expression: \"%s\"}\n", i, fmt.Sprintf(step, fmt.Sprintf("variables.v%d", i-1)))
	}
	return b.String()
}

// TestLimits: expressions that would keep a server busy for hours, or crash it, are indeterminate
// with that reason, whatever the failure policy and the rest of the expression. Without limits these
// tests would use all memory of the machine.
func TestLimits(t *testing.T) {
	const work, built = "compare or search more than", "build more than"
	doubled := repeated("dyn('0123456789')", "%[1]s + %[1]s", 40)
	nested := repeated("[dyn('a')]", "[dyn(%[1]s), dyn(%[1]s)]", 40)
	mapped := repeated("{'a': dyn('a')}", "{'a': dyn(%[1]s), 'b': dyn(%[1]s)}", 40)
	lists := repeated("[1, 2, 3]", "%[1]s + %[1]s", 40)
	long := repeated("dyn('0123456789')", "%[1]s + %[1]s", 20) // ten million characters
	for name, test := range map[string]struct{ variables, expression, want string }{
		"text doubled":              {doubled, "variables.v40.size() < 5", built},
		"text doubled, absorbed":    {doubled, "variables.v40.size() < 5 || true", built},
		"text doubled, in a loop":   {doubled, "[1, 2].all(x, variables.v40.size() < x)", built},
		"nested lists, equal":       {nested, "variables.v40 == variables.v40", work},
		"nested lists, not equal":   {nested, "variables.v40 != variables.v40", work},
		"nested lists, in":          {nested, "variables.v40 in [variables.v40]", work},
		"nested lists, negated":     {nested, "!(variables.v40 == variables.v40)", work},
		"nested lists, as text":     {nested, "'%s'.format([variables.v40]) == ''", built},
		"nested lists, index":       {nested, "[variables.v40].indexOf(variables.v40) == 0", work},
		"nested lists, sets":        {nested, "sets.contains([variables.v40], [variables.v40])", work},
		"nested lists, distinct":    {nested, "[variables.v40, variables.v40].distinct().size() == 1", work},
		"nested maps, equal":        {mapped, "variables.v40 == variables.v40", work},
		"list doubled":              {lists, "variables.v40.size() == 3", built},
		"list doubled, search":      {lists, "7 in variables.v40", built},
		"range":                     {"", "lists.range(10000000000).size() == 1", built},
		"replace of nothing":        {long, "variables.v20.replace('', string(variables.v20)).size() == 1", built},
		"join by a long text":       {long, "lists.range(100).map(i, 'a').join(string(variables.v20)) == ''", built},
		"split into characters":     {long, "string(variables.v20).split('').size() == 1", built},
		"search for half a text":    {long, "string(variables.v20).indexOf(string(variables.v19) + 'x') == 1", work},
		"long texts compared often": {long, "lists.range(10000).all(i, variables.v20 <= variables.v20)", work},
		"long text measured often":  {long, "lists.range(10000).all(i, variables.v20.size() > i)", work},
		"texts made in a loop":      {long, "lists.range(1000).all(i, (variables.v20 + dyn('a')).size() > i)", work},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := judge(t, deny(test.expression, "", test.variables+"  failurePolicy: Ignore", ""), namespaceShop)
			if len(o.Decisions) != 0 || len(o.Indeterminate) != 1 || !strings.Contains(o.Indeterminate[0].Why, test.want) {
				t.Errorf("%d decisions, indeterminate %v, want %q", len(o.Decisions), o.Indeterminate, test.want)
			}
		})
	}
}

// TestLimitsAreWide: large values of a size that a server can handle are evaluated.
func TestLimitsAreWide(t *testing.T) {
	for name, test := range map[string]struct{ variables, expression string }{
		"ten million characters": {repeated("dyn('0123456789')", "%[1]s + %[1]s", 20), "variables.v20.size() == 10485760"},
		"a million nested lists": {repeated("[dyn('a')]", "[dyn(%[1]s), dyn(%[1]s)]", 19), "variables.v19 == variables.v19"},
		"long lists added":       {repeated("[1, 2, 3]", "%[1]s + %[1]s", 14), "variables.v14.size() == 49152 && variables.v14[49151] == 3"},
		"a range":                {"", "lists.range(100000).size() == 100000"},
		"comparisons in a loop":  {"", "lists.range(10000).all(i, object != {'a': i} && object == object)"},
	} {
		t.Run(name, func(t *testing.T) {
			o := judge(t, deny(test.expression, "", test.variables, ""), namespaceShop)
			if len(o.Decisions) != 0 || len(o.Indeterminate) != 0 {
				t.Errorf("decisions %v, indeterminate %v", o.Decisions, o.Indeterminate)
			}
		})
	}
}
