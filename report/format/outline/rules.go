package outline

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// RuleGroup has the findings of one rule and class.
type RuleGroup struct {
	// Words describe the kind of rule, Name is the name of the policy, if any.
	Words, Name string
	Class       Class
	Entries     []*Entry
}

// GroupByRule groups entries by rule and class. The entries must be in order of severity.
func GroupByRule(entries []*Entry) []*RuleGroup {
	type key struct {
		words, name string
		class       Class
	}
	var out []*RuleGroup
	groups := map[key]*RuleGroup{}
	for _, e := range entries {
		words, name := RuleOf(e.Finding)
		k := key{words, name, ClassOf(e.Finding)}
		if groups[k] == nil {
			groups[k] = &RuleGroup{Words: words, Name: name, Class: k.class}
			out = append(out, groups[k])
		}
		groups[k].Entries = append(groups[k].Entries, e)
	}
	// Classes stay together even if a rule has entries of several weights.
	slices.SortStableFunc(out, func(a, b *RuleGroup) int { return cmp.Compare(a.Class.rank(), b.Class.rank()) })
	return out
}

// RuleOf returns the kind of rule that caused a finding, in words, and the name of the policy,
// if any.
func RuleOf(f *report.Finding) (words, name string) {
	switch {
	case f.Cause == report.CauseRender:
		return "a root does not render", ""
	case f.Cause == report.CausePolicy:
		return "a policy or binding is refused", ""
	case f.Cause == report.CauseProject:
		return "an AppProject of Argo CD", ""
	case f.Policy != "":
		return "policy", f.Policy
	}
	return "the API server itself", ""
}

// Lead returns the text before the rule in a title.
func (g *RuleGroup) Lead() string {
	switch g.Entries[0].Cause {
	case report.CauseRender, report.CausePolicy:
		return g.Class.Title() + ": "
	}
	return g.Class.Title() + " by "
}

// Verdict returns a text like "Denied by policy p (binding b): UPDATE Deployment shop/web,
// root prod".
func Verdict(f *report.Finding) string {
	words := ClassOf(f).Title()
	by := "the API server"
	switch {
	case f.Cause == report.CauseRender:
		return Join(": ", words, "the root does not render: "+Join(", ", Request(f), WithKubernetes(f)))
	case f.Cause == report.CauseProject:
		by = "an AppProject of Argo CD"
	case f.Policy != "" && f.Cause != report.CausePolicy:
		by = "policy " + f.Policy
		if f.Binding != "" {
			by += " (binding " + f.Binding + ")"
		}
		if f.Policies == report.PoliciesProposed {
			by += ", which the change proposes"
		}
	}
	return Join(": ", words+" by "+by, Join(", ", Request(f), GeneratedNote(f), WithKubernetes(f)))
}
