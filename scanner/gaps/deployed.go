package gaps

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
)

// Kinds of gaps about what is deployed.
const (
	// UnclaimedRoot is a root that no deployer applies.
	UnclaimedRoot render.GapKind = "unclaimed root"
	// GoneUnit is a unit that is gone from the repository but not from the cluster.
	GoneUnit render.GapKind = "gone unit"
)

// Deployers adds the gaps and diagnostics of the deployers: what they apply that is not known.
func (l *Ledger) Deployers() {
	before := map[string]bool{}
	for _, g := range graphGaps(l.Base) {
		before[g.Root.String()+g.Identity+g.Why] = true
	}
	now := map[string]bool{}
	for _, g := range graphGaps(l.Head) {
		now[g.Root.String()+g.Identity+g.Why] = true
		if l.Selected(g.Root) {
			l.Add(Gap{Gap: g, Tree: change.Head, Untouched: before[g.Root.String()+g.Identity+g.Why]})
		}
	}
	for _, g := range graphGaps(l.Base) {
		if !now[g.Root.String()+g.Identity+g.Why] && l.Selected(g.Root) {
			l.Add(Gap{Gap: g, Tree: change.Base})
		}
	}
	if l.Head.Graph == nil {
		return
	}
	for _, d := range l.Head.Graph.Diagnostics {
		l.Note(report.Diagnostic{
			Severity: string(d.Severity), Message: d.Message, Location: new(change.LocationOf(d.Position, change.Head)), Untouched: l.remarkedBefore(d),
		})
	}
}

// remarkedBefore reports whether the deployers of the base have the same diagnostic for the same
// file, on any line.
func (l *Ledger) remarkedBefore(d render.Diagnostic) bool {
	return l.Base != nil && l.Base.Graph != nil && slices.ContainsFunc(l.Base.Graph.Diagnostics, func(b render.Diagnostic) bool {
		return b.Severity == d.Severity && b.Message == d.Message && b.Path == d.Path
	})
}

// unevaluatedBefore reports whether the same ApplicationSets were not evaluated at base.
func (l *Ledger) unevaluatedBefore() bool {
	return l.Base != nil && l.Base.Graph != nil && l.Head.Graph != nil && slices.Equal(l.Base.Graph.Unevaluated, l.Head.Graph.Unevaluated)
}

func graphGaps(s *change.Side) []render.Gap {
	if s == nil || s.Graph == nil {
		return nil
	}
	return s.Graph.Gaps
}

// Unclaimed notes the roots that no deployer of the repository applies, and adds a gap for each one
// that the change touches.
func (l *Ledger) Unclaimed() {
	if l.options.Config.Unclaimed == config.UnclaimedIgnore {
		return
	}
	unevaluated := l.Change.Unevaluated()
	if l.options.Config.Unclaimed == "" && unevaluated > 0 && l.JudgedUnclaimed > 0 {
		l.Note(report.Diagnostic{Severity: "note", Untouched: l.unevaluatedBefore(), Message: fmt.Sprintf(
			"%s not evaluated and may apply roots that no deployer applies: these %d are judged as if they were applied unchanged (argocd and unclaimed in %s)",
			plural(unevaluated, "ApplicationSet is", "ApplicationSets are"), l.JudgedUnclaimed, config.FileName)})
	}
	var names, policies []string
	for _, u := range l.Change.Unclaimed {
		if !l.Selected(u.RootID) {
			continue
		}
		names = append(names, u.String())
		if u.Side.MayHoldPolicies(u.Root) {
			policies = append(policies, u.String())
		}
		if l.Base != nil && l.TouchesUnclaimed(u) {
			why := "no deployer of the repository applies this root, so it is not judged"
			switch {
			case u.Side == l.Base:
				why = "no deployer of the repository applied this root, so that it is gone is not judged"
			case unevaluated > 0:
				why = "no deployer is known to apply this root, so it is not judged: " + plural(unevaluated, "ApplicationSet is", "ApplicationSets are") + " not evaluated"
			}
			l.Add(Gap{Tree: u.Side.Name, Gap: render.Gap{
				Kind: UnclaimedRoot, Root: u.RootID, Position: render.Position{Path: u.Side.MainFile(u.Dir)}, Why: why, Identity: why,
			}})
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	message := fmt.Sprintf("no deployer of the repository applies %s: %s", count(len(names), "root"), abbreviate(names))
	if len(policies) > 0 {
		slices.Sort(policies)
		message += fmt.Sprintf("; if the policies in %s are in force, name them under policies in %s", abbreviate(policies), config.FileName)
	}
	l.Note(report.Diagnostic{Severity: "note", Message: message})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// GoneUnits adds units that are gone if their objects may stay in the cluster.
func (l *Ledger) GoneUnits() {
	if l.Base == nil {
		return
	}
	for _, root := range l.Gone() {
		if root.Unit == nil || !l.Selected(root.RootID) {
			continue
		}
		why := ""
		switch l.FateOf(root) {
		case change.Kept:
			why = "its object is gone from the repository, but nothing deletes it from the cluster, since what applied it does not prune: it goes on applying " + root.Dir
			if root.Unit.Application != nil && root.Unit.Application.Set != (render.ObjectRef{}) {
				why = "it is no longer generated, but its ApplicationSet does not delete it (applicationsSync): it goes on applying " + root.Dir
			}
		case change.Ended:
			why = "this entry point is gone from the repository: what becomes of its objects in the cluster is not known"
		default:
			continue
		}
		l.Add(Gap{Tree: change.Base, Gap: render.Gap{Kind: GoneUnit, Root: root.RootID, Position: l.Base.UnitPosition(root), Why: why, Identity: why}})
	}
}
