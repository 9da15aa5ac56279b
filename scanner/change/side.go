package change

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Side is one tree of the change with everything rendered from it.
type Side struct {
	// Name is Base, Head or the user's name of an extra.
	Name string
	// Extra is set for objects given in addition to the trees.
	Extra bool
	// Files is the tree.
	Files    fs.FS
	Renderer *render.Renderer
	// Found has the roots and gaps of the tree.
	Found *render.Discovery
	// head is the side of the head, set on the side of the base.
	head *Side
	// Graph has the units of the tree; nil if deployers are not taken into account. discovered are
	// all roots that were found in directories, deployed or not.
	Graph      *deploy.Graph
	discovered []render.Root
	// read has the files that units read and their directories; it is computed on first use.
	read map[string]bool
	// kept has what suspended units have from the base, once that is known.
	kept map[namedIn]*render.Result
	// Roots has the rendered roots by their ID.
	Roots map[render.RootID]*Rendered
	// Given has the rendered roots of each configured path (policies, context).
	Given map[string][]*Rendered
	// rendering and refused are those of Options.
	rendering func(root, tree string) (done func())
	refused   map[string]string
}

// OpenSide discovers the roots of a tree.
func OpenSide(ctx context.Context, name string, files fs.FS, renderer *render.Renderer, how Options) (*Side, error) {
	found, err := renderer.DiscoverSelected(ctx, render.Selection{Dirs: how.Seeks, TestData: how.TestData})
	if err != nil {
		return nil, fmt.Errorf("discover roots of %s: %w", name, err)
	}
	s := &Side{
		Name: name, Files: files, Renderer: renderer, Found: found,
		Roots: map[render.RootID]*Rendered{}, Given: map[string][]*Rendered{},
		rendering: how.Rendering, refused: how.Refused, discovered: found.Roots,
	}
	return s, nil
}

// Render renders one root into objects.
func (s *Side) Render(ctx context.Context, root render.Root) *Rendered {
	r := &Rendered{Result: s.resultOf(ctx, root), ID: s.ID(root)}
	for _, o := range r.Result.Objects {
		object := admission.ParseObject(o.JSON)
		object.Tag, object.Unknown = Origin{Side: s, Root: root, Result: r.Result, Index: o.Index}, s.unknown(root, o)
		if o.Hook != nil && o.Hook.OnDeletion {
			r.OnDeletion = append(r.OnDeletion, object)
		}
		if o.Role == render.RoleIdleHook {
			continue
		}
		if isSkipped(root, object) {
			r.Skipped = append(r.Skipped, object)
			continue
		}
		r.Objects = append(r.Objects, object)
	}
	return r
}

// unknown returns the fields of an object whose values are not known. If no deployer of a root is
// known, it is not known either whether variables in it are substituted.
func (s *Side) unknown(root render.Root, o *render.Object) []render.Unknown {
	if root.Unit != nil || s.Extra || !bytes.Contains(o.JSON, []byte("${")) {
		return o.Unknown
	}
	return append(slices.Clone(o.Unknown), o.Variables()...)
}

// ID returns the identity of a root in both trees: that of the head's root in the same place, which
// may be of another kind, or else its own.
func (s *Side) ID(root render.Root) render.RootID {
	if now, ok := s.head.Root(root.RootID); ok {
		return now.RootID
	}
	return root.RootID
}

// Root returns the discovered root with an identity, or else one of another kind in the same place.
func (s *Side) Root(id render.RootID) (root render.Root, ok bool) {
	if s == nil {
		return render.Root{}, false
	}
	i, _ := slices.BinarySearchFunc(s.Found.Roots, id, func(r render.Root, id render.RootID) int { return r.ComparePlace(id) })
	for _, r := range s.Found.Roots[i:] {
		if r.ComparePlace(id) != 0 {
			break
		}
		if !ok || r.RootID == id {
			root, ok = r, true
		}
	}
	return root, ok
}

// RootAt returns the discovered root of a directory.
func (s *Side) RootAt(dir string) (render.Root, bool) { return s.Root(render.RootID{Dir: dir}) }

// SameRoot reports whether a root has the same definition in both trees, so that only changes of
// the files it reads can change what it renders to.
func SameRoot(a, b render.Root) bool { return a.Same(b) }

// Add adds a root to the discovered ones, and removes gaps of its directory for unused files.
func (s *Side) Add(root render.Root) {
	s.Found.Gaps = slices.DeleteFunc(s.Found.Gaps, func(o render.Gap) bool {
		return o.Kind == render.GapUnused && o.Root.Dir == root.Dir
	})
	s.Found.Roots, s.discovered = insert(s.Found.Roots, root), insert(s.discovered, root)
}

// SetFiles sets the files of a plain root, which is added if it is not known, and removes their gaps.
func (s *Side) SetFiles(id render.RootID, files []string) {
	s.place(render.Root{RootID: id, Files: files}, files...)
}

// place adds a root, or replaces that with its identity, and removes the gaps of files.
func (s *Side) place(root render.Root, files ...string) {
	found := *s.Found
	found.Gaps = slices.DeleteFunc(slices.Clone(found.Gaps), func(g render.Gap) bool { return slices.Contains(files, g.Path) })
	s.Found = &found
	is := func(r render.Root) bool { return r.RootID == root.RootID }
	s.Found.Roots = insert(slices.DeleteFunc(slices.Clone(s.Found.Roots), is), root)
	s.discovered = insert(slices.DeleteFunc(slices.Clone(s.discovered), is), root)
}

func insert(roots []render.Root, root render.Root) []render.Root {
	at, _ := slices.BinarySearchFunc(roots, root, func(a, b render.Root) int { return a.Compare(b.RootID) })
	return slices.Insert(slices.Clone(roots), at, root)
}

// Index returns an index of all rendered objects of a tree.
func (s *Side) Index() *admission.Index {
	var all []*admission.Object
	for _, root := range s.Found.Roots {
		all = append(all, s.Roots[s.ID(root)].All()...)
	}
	return admission.NewIndex(all)
}
