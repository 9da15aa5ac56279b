package render

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render/tree"
)

// Gap is something that the tree's deployer may apply to a cluster, but that no root renders to, so that it is not
// judged.
type Gap struct {
	Kind GapKind
	// Root is where the gap is reported: the root that did not render. For something in no root, it has no kind, and
	// its directory is that of the root which contains it, or its own.
	Root RootID
	// Position is the file or directory, or the line that causes the gap.
	tree.Position
	// Locate, when set, finds that line, which is slow; Position is a directory then.
	Locate func() tree.Position
	// Why is the reason why it is not judged, as text for the author of a change. It is empty if Kind says everything.
	Why string
	// Original is Problem.Original.
	Original string
	// Identity identifies the content: gaps with equal identities have the same content.
	Identity string
	// Hides are the kinds of objects that the gap may hide; nil when it may hide any.
	Hides []schema.GroupKind
}

// Place returns the line that causes the gap, or the file or directory.
func (g *Gap) Place() tree.Position {
	if g.Locate != nil {
		return g.Locate()
	}
	return g.Position
}

// GapKind is the kind of what is not judged.
type GapKind string

const (
	// GapSubmodule is a git submodule: Argo CD and Flux check it out.
	GapSubmodule GapKind = "submodule"
	// GapUnlisted is a directory that cannot be listed; Why has the error.
	GapUnlisted GapKind = "unreadable directory"
	// GapChart is the directory of a Helm chart that no kustomization uses.
	GapChart GapKind = "chart"
	// GapUnused is a manifest that no kustomization uses, in a directory where one uses another manifest.
	GapUnused GapKind = "unused manifest"
	// GapLink is a symbolic link to a directory with roots: what is applied at its path changes with its target.
	GapLink GapKind = "symbolic link"
	// GapTemplate is a file that looks like a template of a manifest.
	GapTemplate GapKind = "template"
	// GapPointer is a Git LFS pointer to JSON, beside manifests.
	GapPointer GapKind = "Git LFS pointer"
	// GapExtension is a file with objects whose extension is that of a manifest in another case: kubectl, Flux and Argo
	// CD do not read it in a directory.
	GapExtension GapKind = "manifest with another extension"
	// GapJsonnet is a file in or below a plain root that Argo CD evaluates.
	GapJsonnet GapKind = "jsonnet"
	// GapComponent is the directory of a Component that no root uses.
	GapComponent GapKind = "component"
	// GapTest is the directory of a test of Chainsaw, kuttl or Kyverno.
	GapTest GapKind = "test"
	// GapFleet is a file of a bundle of Rancher Fleet, and GapHelmfile one of Helmfile.
	GapFleet    GapKind = "fleet"
	GapHelmfile GapKind = "helmfile"
	// GapTestData is a directory named testdata, or one with copies of Go modules.
	GapTestData GapKind = "test data"
	// GapAmbiguous is an object that several units apply with different contents.
	GapAmbiguous GapKind = "applied differently"
	// GapSync is something that Argo CD does for an Application beside applying its objects, or an unknown user who
	// applies the objects of a unit.
	GapSync GapKind = "sync option"
	// GapRefused is a root that was not rendered: see ProblemRefused.
	GapRefused GapKind = "refused root"
	// GapLacking is something that a root was rendered without: see Lack.
	GapLacking GapKind = "remote resource"
	// GapFailed is a root that does not render: see ProblemFailed.
	GapFailed GapKind = "failed root"
)

// Gap returns the gap of a root that did not render; ok is false for a root that rendered.
func (r *Result) Gap() (gap Gap, ok bool) {
	if r.Problem == nil {
		return Gap{}, false
	}
	kind := GapFailed
	if r.Problem.Kind == ProblemRefused {
		kind = GapRefused
	}
	return Gap{Kind: kind, Root: r.Root.RootID, Position: r.Problem.Position, Locate: r.Problem.Locate, Why: r.Problem.Message, Original: r.Problem.Original}, true
}

// Lack describes remote resources that are missing and that a root is rendered without.
type Lack struct {
	// Position is the first entry that refers to one.
	tree.Position
	Why string
	// What are the resources, as they are written, each once and in order.
	What []string
}

// Same reports whether the same resources are missing.
func (l *Lack) Same(other *Lack) bool {
	if l == nil || other == nil {
		return l == other
	}
	return slices.Equal(l.What, other.What)
}

// And returns what is missing in two parts of a root.
func (l *Lack) And(other *Lack) *Lack {
	if l == nil || other == nil {
		return cmp.Or(l, other)
	}
	both := *l
	both.What = slices.Compact(slices.Sorted(slices.Values(slices.Concat(l.What, other.What))))
	if other.Why != l.Why {
		both.Why += "; " + other.Why
	}
	return &both
}

// Gap returns the gap of a root that was rendered without something.
func (l *Lack) Gap(root RootID) Gap {
	return Gap{Kind: GapLacking, Root: root, Position: l.Position, Why: l.Why}
}
