package outline

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// RuleGroup is what one rule says with one action.
type RuleGroup struct {
	// words say what made the findings, name is its name, if it has one.
	Words, Name string
	action      report.Action
	Entries     []*Entry
}

// GroupByRule groups entries that are in order of severity.
func GroupByRule(entries []*Entry) []*RuleGroup {
	type key struct {
		words, name string
		action      report.Action
	}
	var out []*RuleGroup
	groups := map[key]*RuleGroup{}
	for _, e := range entries {
		words, name := RuleOf(e.Finding)
		k := key{words, name, e.Action}
		if groups[k] == nil {
			groups[k] = &RuleGroup{Words: words, Name: name, action: k.action}
			out = append(out, groups[k])
		}
		groups[k].Entries = append(groups[k].Entries, e)
	}
	// Actions stay together even if a rule has entries of several weights.
	slices.SortStableFunc(out, func(a, b *RuleGroup) int { return cmp.Compare(Strength(a.action), Strength(b.action)) })
	return out
}

// RuleOf returns what made a finding, in words, and its name if it has one.
func RuleOf(f *report.Finding) (words, name string) {
	switch {
	case f.Cause == report.CauseRender:
		return "a root does not render", ""
	case f.Cause == report.CausePolicy:
		return "a policy or binding is refused", ""
	case f.Policy != "":
		return "policy", f.Policy
	}
	return "the API server itself", ""
}

// Lead is what comes before the rule in a title.
func (g *RuleGroup) Lead() string {
	switch g.Entries[0].Cause {
	case report.CauseRender, report.CausePolicy:
		return ActionWords(g.action) + ": "
	}
	return ActionWords(g.action) + " by "
}

// ActionWords is like "Denied".
func ActionWords(a report.Action) string {
	switch a {
	case report.ActionDeny:
		return "Denied"
	case report.ActionWarn:
		return "Warned"
	}
	return "Noted for audit"
}

func Level(a report.Action) string {
	switch a {
	case report.ActionDeny:
		return "error"
	case report.ActionWarn:
		return "warning"
	}
	return "note"
}

// Verdict is like "Denied by policy p (binding b): UPDATE Deployment shop/web, root
// prod".
func Verdict(f *report.Finding) string {
	words := ActionWords(f.Action)
	if f.Policies == report.PoliciesProposed {
		words += ", once the proposed policies are in force,"
	}
	by := "the API server"
	switch {
	case f.Cause == report.CauseRender:
		by = "preadmit, as the root does not render"
	case f.Policy != "" && f.Cause != report.CausePolicy:
		by = "policy " + f.Policy
		if f.Binding != "" {
			by += " (binding " + f.Binding + ")"
		}
	}
	return Join(": ", words+" by "+by, Join(", ", Request(f), GeneratedNote(f)))
}
