package change

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Side is one tree of the change with everything rendered from it.
type Side struct {
	// Name is Base, Head or what the user calls an extra.
	Name string
	// Extra is set for objects given beside the trees.
	Extra bool
	// Files is the tree.
	Files    fs.FS
	Renderer *render.Renderer
	// Found is what the tree holds.
	Found *render.Discovery
	// head is the side of the head when this is that of the base.
	head *Side
	// Roots are the discovered roots that were rendered, by what ID gives.
	Roots map[render.RootID]*Rendered
	// Given are the roots behind a path of the configuration (policies, context).
	Given map[string][]*Rendered
	// rendering and refused are those of Options.
	rendering func(root, tree string) (done func())
	refused   map[string]string
}

// OpenSide discovers the roots of a tree.
func OpenSide(ctx context.Context, name string, files fs.FS, renderer *render.Renderer, how Options) (*Side, error) {
	found, err := renderer.DiscoverSelected(ctx, how.Selects)
	if err != nil {
		return nil, fmt.Errorf("discover roots of %s: %w", name, err)
	}
	return &Side{
		Name: name, Files: files, Renderer: renderer, Found: found,
		Roots: map[render.RootID]*Rendered{}, Given: map[string][]*Rendered{},
		rendering: how.Rendering, refused: how.Refused,
	}, nil
}

// Render renders one root into objects.
func (s *Side) Render(ctx context.Context, root render.Root) *Rendered {
	if s.Refuses(root) {
		return &Rendered{Result: s.refusal(root), ID: s.ID(root)}
	}
	defer s.Begin(root.Dir)()
	r := &Rendered{Result: s.Renderer.Render(ctx, root), ID: s.ID(root)}
	for _, o := range r.Result.Objects {
		object := admission.ParseObject(o.JSON)
		object.Tag, object.Unknown = Origin{Side: s, Root: root, Result: r.Result, Index: o.Index}, o.Unknown
		r.Objects = append(r.Objects, object)
	}
	return r
}

// ID returns the identity of a root in both trees: that of the head's root in its place,
// which may be of another kind, or its own.
func (s *Side) ID(root render.Root) render.RootID {
	if now, ok := s.head.Root(root.RootID); ok {
		return now.RootID
	}
	return root.RootID
}

// Root returns the discovered root with an identity, or else one of another kind in its
// place.
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

// RootAt returns the discovered root that is the directory at path.
func (s *Side) RootAt(dir string) (render.Root, bool) { return s.Root(render.RootID{Dir: dir}) }

// SameRoot reports whether two trees agree on what makes up a root, so that only
// the files it reads can make it render differently.
func SameRoot(a, b render.Root) bool { return a.Same(b) }

// Add adds a root to those that were discovered. Nothing of it is left out then because
// others use something beside it.
func (s *Side) Add(root render.Root) {
	s.Found.Gaps = slices.DeleteFunc(s.Found.Gaps, func(o render.Gap) bool {
		return o.Kind == render.GapUnused && o.Root.Dir == root.Dir
	})
	at, _ := slices.BinarySearchFunc(s.Found.Roots, root, func(a, b render.Root) int { return a.Compare(b.RootID) })
	s.Found.Roots = slices.Insert(s.Found.Roots, at, root)
}

// Index holds all that was rendered of a tree.
func (s *Side) Index() *admission.Index {
	var all []*admission.Object
	for _, root := range s.Found.Roots {
		all = append(all, s.Roots[s.ID(root)].All()...)
	}
	return admission.NewIndex(all)
}
