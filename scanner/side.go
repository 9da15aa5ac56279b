package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	// roots are the discovered roots by path.
	roots map[string]*rendered
	// given are the roots behind a path of the configuration (policies, context).
	given map[string][]*rendered
	// rendering and refused are Input.Rendering and Input.Refused.
	rendering func(root, tree string) (done func())
	refused   map[string]string
}

// rendered is a root with its objects.
type rendered struct {
	*render.Result
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
		roots: map[string]*rendered{}, given: map[string][]*rendered{},
		rendering: s.in.Rendering, refused: s.in.Refused,
	}, nil
}

// render renders one root into objects.
func (s *side) render(ctx context.Context, root render.Root) *rendered {
	if s.refuses(root) {
		return &rendered{Result: s.refusal(root)}
	}
	defer s.works(root.Path)()
	r := &rendered{Result: s.renderer.Render(ctx, root)}
	for _, o := range r.Objects {
		object := admission.ParseObject(o.JSON)
		object.Tag = origin{side: s, root: root, result: r.Result, index: o.Index}
		r.objects = append(r.objects, object)
	}
	return r
}

// root returns the discovered root at path.
func (s *side) root(path string) (render.Root, bool) {
	if s == nil {
		return render.Root{}, false
	}
	i, ok := s.rootIndex(path)
	if !ok {
		return render.Root{}, false
	}
	return s.found.Roots[i], true
}

// rootIndex is where among the discovered roots that at path is, or would be.
func (s *side) rootIndex(path string) (i int, ok bool) {
	return slices.BinarySearchFunc(s.found.Roots, path, func(r render.Root, path string) int {
		return strings.Compare(r.Path, path)
	})
}

// sameRoot reports whether two trees agree on what makes up a root, so that only
// the files it reads can make it render differently.
func sameRoot(a, b render.Root) bool {
	return a.Path == b.Path && a.Kind == b.Kind && slices.Equal(a.Files, b.Files)
}
