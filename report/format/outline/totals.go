package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Keys of totals.
const (
	ByPolicy    = "policy"
	ByNamespace = "namespace"
)

// TotalsBy lists the keys of totals.
func TotalsBy() []string { return []string{ByPolicy, ByNamespace} }

// Total is the number of findings of a policy or namespace, by class.
type Total struct {
	Name    string
	Classes map[Class]int
	All     int
}

// Totals counts findings by policy or by namespace, the largest number first.
func Totals(findings []report.Finding, by string) []*Total {
	var out []*Total
	byName := map[string]*Total{}
	for i := range findings {
		f := &findings[i]
		name := totalName(f, by)
		t := byName[name]
		if t == nil {
			t = &Total{Name: name, Classes: map[Class]int{}}
			byName[name], out = t, append(out, t)
		}
		t.Classes[ClassOf(f)]++
		t.All++
	}
	slices.SortFunc(out, func(a, b *Total) int { return cmp.Or(b.All-a.All, cmp.Compare(a.Name, b.Name)) })
	return out
}

// totalName returns the policy or namespace of a finding, or a text in parentheses if it has none.
func totalName(f *report.Finding, by string) string {
	if by == ByPolicy {
		words, name := RuleOf(f)
		return cmp.Or(escape.Text(name), "("+words+")")
	}
	switch {
	case f.Object == nil:
		return "(no object)"
	case f.Object.Namespace == "":
		return "(cluster-scoped)"
	}
	return escape.Text(f.Object.Namespace)
}

// String returns a text like "3 denied, 1 warning".
func (t *Total) String() string {
	var parts []string
	for _, class := range Classes() {
		switch n := t.Classes[class]; {
		case n == 0:
		case class == Error || class == Warning:
			parts = append(parts, Count(n, string(class)))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	return strings.Join(parts, ", ")
}
