package outline

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// RuleGroup has the findings of one rule and class.
type RuleGroup struct {
	// Words say what made the findings, Name is its name, if it has one.
	Words, Name string
	Class       Class
	Entries     []*Entry
}

// GroupByRule groups entries that are in order of severity.
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

// RuleOf returns what made a finding, in words, and its name if it has one.
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

// Lead is what comes before the rule in a title.
func (g *RuleGroup) Lead() string {
	switch g.Entries[0].Cause {
	case report.CauseRender, report.CausePolicy:
		return g.Class.Title() + ": "
	}
	return g.Class.Title() + " by "
}

// Verdict is like "Denied by policy p (binding b): UPDATE Deployment shop/web, root
// prod".
func Verdict(f *report.Finding) string {
	words := ClassOf(f).Title()
	by := "the API server"
	switch {
	case f.Cause == report.CauseRender:
		return Join(": ", words, "the root does not render: "+Request(f))
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
	return Join(": ", words+" by "+by, Join(", ", Request(f), GeneratedNote(f)))
}
