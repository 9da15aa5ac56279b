package render

import (
	"context"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Source renders the roots of one kind of a tree. Sources do not know one another:
// adding a kind of root is adding one.
type Source interface {
	// Kind is that of its roots.
	Kind() RootKind

	// RootFile reports whether a file of that name makes its directory a root of this
	// kind, if nothing else uses it.
	RootFile(name string) bool
	// Uses returns what the root files of a directory use.
	Uses(dir string, rootFiles []string) *Uses
	// At returns the root that the root files of a directory make, whether or not others
	// use it; ok is false when there is none.
	At(dir string) (root Root, ok bool)
	// Reads returns everything that rendering the root of a directory may read or miss.
	Reads(dir string) tree.Trace

	// Needs returns what a root needs, without rendering it.
	Needs(root Root) *Needs
	// Render renders a root. What is wrong with it is the result's Problem.
	Render(ctx context.Context, root Root) *Result
	// Origins returns where the objects of a result without a problem were written, in
	// their order.
	Origins(ctx context.Context, result *Result) ([]*origin.Origin, error)
	// Manifests returns the files that a root is made of.
	Manifests(root Root) Manifests
	// Parts returns what can be rendered of a root that is refused as a whole.
	Parts(root Root) []Root
}

// Constructor makes a Source of a tree.
type Constructor func(t *tree.Tree, opts Options) Source

// Uses is what the root files of a directory use.
type Uses struct {
	// Component is set when the directory is no root by itself, whether or not others
	// use it.
	Component bool
	// Files are files that are used, Dirs directories with everything below.
	Files, Dirs []string
	// Resources are those of Files that are listed as resources.
	Resources []string
	// Bases are other directories whose roots are used.
	Bases       []string
	Diagnostics []Diagnostic

	// Within is the directory that everything lies in which was looked at.
	Within string
	// Linked is set when a symbolic link led there.
	Linked bool
}

// Manifests are the files that a root is made of.
type Manifests struct {
	// Files are YAML, the outermost first.
	Files []string
	// Values are files that become values as they are, Lines those whose lines do.
	Values, Lines map[string]bool
	// Patches is how often rendering tries a patch on a resource.
	Patches int
}
