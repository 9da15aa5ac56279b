package scanner

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Names of the two trees of a change, as Location.Tree has them.
const (
	baseTree = "base"
	headTree = "head"
)

// side is one tree of the change with everything rendered from it.
type side struct {
	// name is baseTree, headTree or what the user calls an extra.
	name string
	// extra is set for objects given beside the trees.
	extra    bool
	tree     Tree
	renderer *render.Renderer
	found    *render.Discovery
	// head is the side of the head when this is that of the base.
	head *side
	// roots are the discovered roots that were rendered, by what id gives.
	roots map[render.RootID]*rendered
	// given are the roots behind a path of the configuration (policies, context).
	given map[string][]*rendered
	// rendering and refused are Input.Rendering and Input.Refused.
	rendering func(root, tree string) (done func())
	refused   map[string]string
}

// rendered is a root with its objects.
type rendered struct {
	*render.Result
	// id is the root's identity in both trees.
	id      render.RootID
	objects []*admission.Object
}

// origin is where an object of a cluster's state was rendered from; it is the Tag
// of an admission.Object.
type origin struct {
	side   *side
	root   render.Root
	result *render.Result // of root
	index  int
}

func originOf(o *admission.Object) origin { return o.Tag.(origin) }

// openSide discovers the roots of a tree, of which selected tells those that are looked
// at; nil when all are.
func (s *scan) openSide(ctx context.Context, name string, tree Tree, renderer *render.Renderer, selected func(dir string) bool) (*side, error) {
	found, err := renderer.DiscoverSelected(ctx, selected)
	if err != nil {
		return nil, fmt.Errorf("discover roots of %s: %w", name, err)
	}
	return &side{
		name: name, tree: tree, renderer: renderer, found: found,
		roots: map[render.RootID]*rendered{}, given: map[string][]*rendered{},
		rendering: s.in.Rendering, refused: s.in.Refused,
	}, nil
}

// render renders one root into objects.
func (s *side) render(ctx context.Context, root render.Root) *rendered {
	if s.refuses(root) {
		return &rendered{Result: s.refusal(root), id: s.id(root)}
	}
	defer s.works(root.Dir)()
	r := &rendered{Result: s.renderer.Render(ctx, root), id: s.id(root)}
	for _, o := range r.Objects {
		object := admission.ParseObject(o.JSON)
		object.Tag = origin{side: s, root: root, result: r.Result, index: o.Index}
		r.objects = append(r.objects, object)
	}
	return r
}

// id returns the identity of a root in both trees: that of the head's root in its place,
// which may be of another kind, or its own.
func (s *side) id(root render.Root) render.RootID {
	if now, ok := s.head.root(root.RootID); ok {
		return now.RootID
	}
	return root.RootID
}

// root returns the discovered root with an identity, or else one of another kind in its
// place.
func (s *side) root(id render.RootID) (root render.Root, ok bool) {
	if s == nil {
		return render.Root{}, false
	}
	i, _ := slices.BinarySearchFunc(s.found.Roots, id, func(r render.Root, id render.RootID) int { return r.ComparePlace(id) })
	for _, r := range s.found.Roots[i:] {
		if r.ComparePlace(id) != 0 {
			break
		}
		if !ok || r.RootID == id {
			root, ok = r, true
		}
	}
	return root, ok
}

// rootAt returns the discovered root that is the directory at path.
func (s *side) rootAt(dir string) (render.Root, bool) { return s.root(render.RootID{Dir: dir}) }

// sameRoot reports whether two trees agree on what makes up a root, so that only
// the files it reads can make it render differently.
func sameRoot(a, b render.Root) bool {
	return a.RootID == b.RootID && slices.Equal(a.Files, b.Files)
}
