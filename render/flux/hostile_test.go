package flux_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
)

// TestSubstitutionIsBounded renders units that try to make substitution expensive.
func TestSubstitutionIsBounded(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	many := make([]render.Variable, 0, 10_000)
	for i := range 10_000 {
		many = append(many, render.Variable{Name: fmt.Sprintf("V%05d", i), Value: "x"})
	}
	for name, test := range map[string]struct {
		data      string
		variables []render.Variable
		want      string // in the problem; none when empty
	}{
		"many times a long value":   {strings.Repeat("${A}", 1000), []render.Variable{{Name: "A", Value: long}}, "more than the limit"},
		"a value for each byte":     {"${A//a/${B}}", []render.Variable{{Name: "A", Value: long}, {Name: "B", Value: long}}, "more than the limit"},
		"a pattern on a long value": {"${A%%*b*c*d}", []render.Variable{{Name: "A", Value: long}}, "more than the limit"},
		"nested without an end":     {strings.Repeat("${A:-", 200_000), many, "more than the limit"},
		"many expressions":          {strings.Repeat("${A}", 60_000), many, "more than the limit"},
		"many escapes":              {strings.Repeat("$$", 1<<20), many, "more than can be read"},
		"escapes in a pattern":      {"${A/" + strings.Repeat(`\\`, 1<<19) + "/}", many, "more than can be read"},
		"10,000 variables":          {"${V00001}${V09999}", many, ""},
		"aliases made by a value":   {"${A}", []render.Variable{{Name: "A", Value: "&a [*a]"}}, "holds an alias of itself"},
		"the mark of unknowns":      {"$PREADMITxUNKNOWNx6f1e2c9a0x", many, "stands for an unknown value"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: >-\n    " + test.data + "\n"
			r := render.NewRenderer(fstest.MapFS{"apps/a.yaml": {Data: []byte(text)}}, render.Options{}, flux.New)
			before := cputime.Used()
			result := r.Render(context.Background(), unitOf(t, "apps", "  postBuild: {}\n", test.variables...))
			if used := cputime.Used() - before; used.Seconds() > 10 {
				t.Errorf("took %v", used)
			}
			switch {
			case test.want == "" && result.Problem != nil:
				t.Errorf("failed: %s", result.Problem.Message)
			case test.want != "" && (result.Problem == nil || !strings.Contains(result.Problem.Message, test.want)):
				t.Errorf("%+.300v, want a problem with %q", result.Problem, test.want)
			}
		})
	}
}
