package render

import (
	"context"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Source renders the roots of one kind of a tree. Sources do not depend on each other: a new kind of root is a new
// source.
type Source interface {
	// Kind returns the kind of its roots.
	Kind() RootKind

	// RootFile reports whether a file with that name makes its directory a root of this kind, if nothing else uses it.
	RootFile(name string) bool
	// Uses returns what the root files of a directory use.
	Uses(dir string, rootFiles []string) *Uses
	// At returns the root of a directory with root files, whether or not others use it; ok is false if there is none.
	At(dir string) (root Root, ok bool)
	// Reads returns everything that rendering the root of a directory may read or find missing.
	Reads(dir string) tree.Trace

	// Needs returns what a root needs, without rendering it.
	Needs(root Root) *Needs
	// Render renders a root. An error in it is the result's Problem.
	Render(ctx context.Context, root Root) *Result
	// Origins returns where the objects of a result without a problem were written, in their order.
	Origins(ctx context.Context, result *Result) ([]*origin.Origin, error)
	// Manifests returns the files that a root consists of.
	Manifests(root Root) Manifests
	// Parts returns the parts of a root that can be rendered although it is refused as a whole.
	Parts(root Root) []Root
}

// Constructor makes a Source of a tree.
type Constructor func(t *tree.Tree, opts Options) Source

// Uses is what the root files of a directory use.
type Uses struct {
	// Component is set when the directory is never a root, whether or not others use it.
	Component bool
	// Files are used files, Dirs used directories with everything below.
	Files, Dirs []string
	// Resources are those of Files that are listed as resources.
	Resources []string
	// Bases are other directories whose roots are used.
	Bases       []string
	Diagnostics []Diagnostic

	// Within is the directory that contains everything that was read.
	Within string
	// Linked is set when a symbolic link was followed.
	Linked bool
}

// Manifests are the files that a root consists of.
type Manifests struct {
	// Files are YAML files, the outermost first.
	Files []string
	// Values are files whose whole content becomes a value, Lines files whose lines become values.
	Values, Lines map[string]bool
	// Patches is how often rendering tries to apply a patch to a resource.
	Patches int
}
