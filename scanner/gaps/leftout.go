package gaps

import (
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
)

// whyLeftOut returns the reason why something is in no root.
func whyLeftOut(o render.Gap) string {
	switch o.Kind {
	case render.GapUnlisted:
		return "a directory that cannot be listed: " + o.Why
	case render.GapSubmodule:
		return "a git submodule, whose manifests are not in this repository"
	case render.GapUnused:
		return "used by no kustomization, though one uses another file of this directory"
	case render.GapLink:
		return "a symbolic link to a directory: what is applied by its path is not judged by it"
	case render.GapComponent:
		return "a Component that no root uses, so nothing renders it"
	case render.GapTemplate:
		return "a template, which is not rendered"
	case render.GapPointer:
		return "a pointer of Git LFS: the file itself is not in the repository"
	case render.GapExtension:
		return "a manifest, but kubectl, Flux and Argo CD do not read it in a directory: its extension must be .yaml, .yml or .json in lower case"
	case render.GapTest:
		return "a test of Chainsaw, kuttl or Kyverno, which applies nothing to this cluster: it is not judged, and judges nothing"
	case render.GapTestData:
		what := "test data, going by its name"
		if path.Base(o.Path) == render.Vendor {
			what = "a copy of Go modules"
		}
		return what + ": it is not judged, and judges nothing, unless its path or --roots names it"
	case render.GapFleet:
		return "what Rancher Fleet deploys by, which is not followed: the charts, kustomizations, values, targets and namespaces that it names are not judged"
	case render.GapHelmfile:
		return "what Helmfile deploys by, which is not followed: the releases that it names are not judged"
	case render.GapJsonnet:
		return "evaluated by Argo CD, which is not done here"
	}
	return "a Helm chart, whose templates are not rendered"
}

// LeftOut adds files and directories that may be applied although they are in no root.
func (l *Ledger) LeftOut() {
	now, before := leftOutBy(l.Head), leftOutBy(l.Base)
	for _, o := range l.Head.Found.Gaps {
		if isTaken(l.Head, o) {
			continue
		}
		l.addLeftOut(o, "is ", change.Head, before[o.Path].Identity == o.Identity)
	}
	if l.Base == nil {
		return
	}
	for _, o := range l.Base.Found.Gaps {
		if _, still := now[o.Path]; !still && !takesIn(l.Head, o) && !isTaken(l.Base, o) {
			l.addLeftOut(o, "was ", change.Base, false)
		}
	}
}

// isTaken reports whether a unit reads a file or directory that is in no root.
func isTaken(s *change.Side, o render.Gap) bool {
	switch o.Kind {
	case render.GapComponent, render.GapJsonnet, render.GapUnused, render.GapTemplate, render.GapPointer, render.GapTest, render.GapTestData:
		return s.UnitsRead(o.Path)
	}
	return false
}

// leftOutBy returns the gaps of a side by path; from may be nil.
func leftOutBy(from *change.Side) map[string]render.Gap {
	all := map[string]render.Gap{}
	if from != nil {
		for _, o := range from.Found.Gaps {
			all[o.Path] = o
		}
	}
	return all
}

func (l *Ledger) addLeftOut(o render.Gap, is, tree string, untouched bool) {
	if o.Kind == render.GapExtension && l.isGiven(o) {
		if l.isNamed(o) {
			return // it is read
		}
	} else if !l.Chooses(o.Root) || !change.UnderAny(l.options.Under, o.Path) {
		return
	}
	o.Why = is + whyLeftOut(o)
	o.Position = render.Position{Path: o.Path}
	l.Add(Gap{Gap: o, Tree: tree, Untouched: untouched})
}

// isGiven reports whether a gap is in a configured path of policies or context.
func (l *Ledger) isGiven(o render.Gap) bool {
	return slices.ContainsFunc(l.options.Config.GivenPaths(), func(dir string) bool { return change.Under(dir, o.Path) })
}

// isNamed reports whether the configuration names this file itself.
func (l *Ledger) isNamed(o render.Gap) bool {
	return slices.ContainsFunc(l.options.Config.GivenPaths(), func(name string) bool { return path.Clean(name) == o.Path })
}

// takesIn reports whether a gap of the other side is in a root of this side.
func takesIn(s *change.Side, o render.Gap) bool {
	switch o.Kind {
	case render.GapComponent:
		return s.HasKustomization(o.Path)
	case render.GapUnused, render.GapTemplate, render.GapPointer, render.GapExtension, render.GapTest, render.GapTestData:
		return s.Has(o.Path)
	}
	return false
}
