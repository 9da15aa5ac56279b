package gaps

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
)

// Nothing warns if no root is selected, and about paths named by the user that contain none. If the user
// named the paths and nothing at all was judged, it returns an error, as for a glob without a match. do is
// the verb for messages, such as "judge".
func (l *Ledger) Nothing(named bool, do string) error {
	none := len(l.SelectedRoots()) == 0
	if none && named && len(l.gaps)+len(l.Failed) == 0 {
		var why []string
		for _, name := range l.paths() {
			why = append(why, l.whyNothing(name))
		}
		return &change.InputError{What: "PATH", Err: errors.New("nothing to " + do + ": " + strings.Join(why, "; "))}
	}
	if none && slices.ContainsFunc(l.paths(), isTop) {
		l.Note(report.Diagnostic{Severity: "warning", Message: "nothing to " + do + ": no root was found"})
	}
	for _, name := range l.paths() {
		if !isTop(name) && !l.selects(name) && !l.hasGapUnder(name) && !l.usersSelected(name) {
			l.Note(report.Diagnostic{Severity: "warning", Message: "nothing to " + do + ": " + l.whyNothing(name)})
		}
	}
	return nil
}

func isTop(name string) bool { return path.Clean(name) == "." }

// paths returns the paths that the user named, or the whole tree.
func (l *Ledger) paths() []string {
	if len(l.options.Under) == 0 {
		return []string{"."}
	}
	return l.options.Under
}

// selects reports whether a selected root is at or below a path, or reads it.
func (l *Ledger) selects(name string) bool {
	return slices.ContainsFunc(l.SelectedRoots(), func(id render.RootID) bool { return l.IsOf(id, name) })
}

// hasGapUnder reports whether there is a gap at or below a path.
func (l *Ledger) hasGapUnder(name string) bool {
	return slices.ContainsFunc(l.gaps, func(g Gap) bool { return change.Under(name, g.Path) })
}

// whyNothing returns the reason why nothing is judged at a path, with advice.
func (l *Ledger) whyNothing(name string) string {
	said := path.Clean(name)
	if isTop(name) {
		said = "this directory"
	}
	isOf := func(r render.Root) bool { return l.IsOf(r.RootID, name) }
	if slices.ContainsFunc(l.Trees(), func(s *change.Side) bool { return slices.ContainsFunc(s.Found.Roots, isOf) }) {
		return said + " is left out by --roots, --exclude or roots in " + config.FileName
	}
	if i := slices.IndexFunc(l.Named, func(n change.Named) bool { return n.Path == path.Clean(name) }); i >= 0 {
		if by := l.Named[i].Unclaimed; len(by) > 0 {
			return fmt.Sprintf("%s is used by %s, which no deployer of the repository applies (unclaimed: judge in %s judges it all the same)", said, abbreviate(by), config.FileName)
		}
		return said + " holds no Kubernetes object, and no kustomization, chart or deployer uses it: name one of these, or a manifest"
	}
	if unclaimed := l.unclaimedUnder(name); len(unclaimed) > 0 {
		return fmt.Sprintf("no deployer of the repository applies %s (unclaimed: judge in %s judges it all the same)", abbreviate(unclaimed), config.FileName)
	}
	if users := l.users(name); len(users) > 0 {
		return fmt.Sprintf("%s is used by %s: name that instead", said, abbreviate(users))
	}
	return said + " has no manifest, kustomization or chart"
}

// unclaimedUnder returns the roots at or below a path that no deployer applies.
func (l *Ledger) unclaimedUnder(name string) []string {
	var roots []string
	for _, u := range l.Change.Unclaimed {
		if change.Under(name, u.Dir) {
			roots = append(roots, u.Dir)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// users returns the directories whose kustomizations use something at or below a path.
func (l *Ledger) users(name string) []string {
	var users []string
	for dir, by := range l.Head.Renderer.Users() {
		if change.Under(name, dir) {
			users = append(users, slices.DeleteFunc(by, func(user string) bool { return change.Under(name, user) })...)
		}
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// usersSelected reports whether kustomizations use something at or below a path, and all of them are
// judged.
func (l *Ledger) usersSelected(name string) bool {
	users := l.users(name)
	return len(users) > 0 && !slices.ContainsFunc(users, func(dir string) bool { return !l.selects(dir) })
}

// Alone notes the files named by the user that are judged by themselves.
func (l *Ledger) Alone() {
	for _, n := range l.Named {
		if n.Alone && l.selects(n.Path) {
			l.Note(report.Diagnostic{
				Severity: "note", Location: new(change.LocationOf(render.Position{Path: n.Path}, change.Head)),
				Message: "no kustomization, chart or deployer uses this file, so it is judged as it is written",
			})
		}
	}
}
