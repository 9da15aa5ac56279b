package render

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render/tree"
)

// Gap is something that a cluster may be given by what applies the tree, but that no
// root renders to, so that it is not judged.
type Gap struct {
	Kind GapKind
	// Root is where the gap is reported: the root that did not render, or, of what is in
	// no root, a directory without a kind: of the root that it is in or below, or its own.
	Root RootID
	// Position is the file or directory, or the line at fault.
	tree.Position
	// Locate, when set, finds the line at fault, which takes long; Position is a directory then.
	Locate func() tree.Position
	// Why says in words for the author of a change why it is not judged. It is empty where
	// the kind says all.
	Why string
	// Original is that of a Problem.
	Original string
	// Identity is of the content: gaps with equal identities hold the same.
	Identity string
	// Hides are the kinds of objects that the gap may hide; nil when it may hide any.
	Hides []schema.GroupKind
}

// Place returns the line at fault, or the file or directory.
func (g *Gap) Place() tree.Position {
	if g.Locate != nil {
		return g.Locate()
	}
	return g.Position
}

// GapKind says what is not judged.
type GapKind string

const (
	// GapSubmodule is a git submodule: Argo CD and Flux check it out.
	GapSubmodule GapKind = "submodule"
	// GapChart is the directory of a Helm chart that no kustomization uses.
	GapChart GapKind = "chart"
	// GapUnused is a manifest that no kustomization uses, beside one that one uses.
	GapUnused GapKind = "unused manifest"
	// GapLink is a symbolic link to a directory with roots: what is applied by its path
	// changes when it leads elsewhere.
	GapLink GapKind = "symbolic link"
	// GapTemplate is a file that looks like a template of a manifest.
	GapTemplate GapKind = "template"
	// GapPointer is a Git LFS pointer to JSON, beside manifests.
	GapPointer GapKind = "Git LFS pointer"
	// GapExtension is a file with objects whose extension is that of a manifest but for its
	// case: kubectl, Flux and Argo CD do not read it in a directory.
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
	// GapTestData is a directory named testdata.
	GapTestData GapKind = "test data"
	// GapAmbiguous is an object that several units apply, each with a content of its own.
	GapAmbiguous GapKind = "applied differently"
	// GapSync is something that an Application has Argo CD do beside applying its objects, or who
	// applies those of a unit where that is not known.
	GapSync GapKind = "sync option"
	// GapRefused is a root that was not rendered: see ProblemRefused.
	GapRefused GapKind = "refused root"
	// GapLacking is what a root was rendered without: see Lack.
	GapLacking GapKind = "remote resource"
	// GapFailed is a root that does not render: see ProblemFailed.
	GapFailed GapKind = "failed root"
)

// Gap returns the gap that a root without objects is; ok is false for one that rendered.
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

// Lack is what a root is rendered without: resources that lie elsewhere and are not there.
type Lack struct {
	// Position is the first entry that asks for one.
	tree.Position
	Why string
	// What are the resources, as they are written, each once and in order.
	What []string
}

// Same reports whether two roots lack the same.
func (l *Lack) Same(other *Lack) bool {
	if l == nil || other == nil {
		return l == other
	}
	return slices.Equal(l.What, other.What)
}

// And is what two parts of a root lack.
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

// Gap returns the gap that a root is which rendered without something.
func (l *Lack) Gap(root RootID) Gap {
	return Gap{Kind: GapLacking, Root: root, Position: l.Position, Why: l.Why}
}
