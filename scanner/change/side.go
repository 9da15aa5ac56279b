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
	// Graph is what is deployed of the tree; nil when nobody asked. discovered are all roots
	// that were found in directories, deployed or not.
	Graph      *deploy.Graph
	discovered []render.Root
	// read are the files that units are made of, with their directories, once asked for.
	read map[string]bool
	// Roots are the discovered roots that were rendered, by their ID.
	Roots map[render.RootID]*Rendered
	// Given are the roots behind a path of the configuration (policies, context).
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

// unknown are the fields of an object whose values are not known. Where nothing says who
// applies a root, that something is substituted in it is as likely as that nothing is.
func (s *Side) unknown(root render.Root, o *render.Object) []render.Unknown {
	if root.Unit != nil || s.Extra || !bytes.Contains(o.JSON, []byte("${")) {
		return o.Unknown
	}
	return append(slices.Clone(o.Unknown), o.Variables()...)
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
	s.Found.Roots, s.discovered = insert(s.Found.Roots, root), insert(s.discovered, root)
}

func insert(roots []render.Root, root render.Root) []render.Root {
	at, _ := slices.BinarySearchFunc(roots, root, func(a, b render.Root) int { return a.Compare(b.RootID) })
	return slices.Insert(slices.Clone(roots), at, root)
}

// Index holds all that was rendered of a tree.
func (s *Side) Index() *admission.Index {
	var all []*admission.Object
	for _, root := range s.Found.Roots {
		all = append(all, s.Roots[s.ID(root)].All()...)
	}
	return admission.NewIndex(all)
}
