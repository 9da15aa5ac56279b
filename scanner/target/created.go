package target

import (
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// created records which of the Namespaces that a sync of Argo CD (CreateNamespace=true) or Helm
// (install.createNamespace) would create are applied.
type created struct {
	// absent are the Namespaces that are not applied: they exist, or another sync or release creates
	// them.
	absent map[*admission.Object]bool
	// merged maps Namespaces for which a sync only sets some labels and annotations to the complete
	// Namespaces.
	merged map[*admission.Object]*admission.Object
}

// createdIn compares the Namespaces that syncs or Helm would create with those that exist and with one
// another.
func createdIn(roots []*change.Rendered, given []*admission.Object) *created {
	there := map[string]*admission.Object{}
	out := &created{map[*admission.Object]bool{}, map[*admission.Object]*admission.Object{}}
	var managed, plain []*admission.Object
	sort := func(o *admission.Object) {
		switch {
		case o.GroupVersionKind().GroupKind() != kinds.Namespace:
		case change.RoleOf(o) != render.RoleNamespace:
			there[o.Name()] = o
		case change.IsManaged(o):
			managed = append(managed, o)
		default:
			plain = append(plain, o)
		}
	}
	for _, r := range roots {
		for _, o := range r.Objects {
			sort(o)
		}
	}
	for _, o := range given {
		sort(o)
	}
	for _, o := range managed {
		if n := there[o.Name()]; n != nil {
			out.merged[o] = merge(n, o)
		}
	}
	for _, o := range append(managed, plain...) {
		if there[o.Name()] == nil {
			there[o.Name()] = o
		} else if !change.IsManaged(o) {
			out.absent[o] = true
		}
	}
	return out
}

// merge returns a Namespace with the labels and annotations of another one, which win.
func merge(n, over *admission.Object) *admission.Object {
	content := maps.Clone(n.Content())
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	content["metadata"] = metadata
	own, _ := over.Content()["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		has, _ := metadata[field].(map[string]any)
		sets, _ := own[field].(map[string]any)
		all := map[string]any{}
		maps.Copy(all, has)
		maps.Copy(all, sets)
		if len(all) > 0 {
			metadata[field] = all
		}
	}
	merged := admission.ParseObject(tree.Encode(content))
	merged.Tag, merged.Unknown = over.Tag, slices.Concat(n.Unknown, over.Unknown)
	return merged
}

// in returns objects of a root as they are applied.
func (c *created) in(objects []*admission.Object) []*admission.Object {
	isOther := func(o *admission.Object) bool { return c.absent[o] || c.merged[o] != nil }
	if !slices.ContainsFunc(objects, isOther) {
		return objects
	}
	var out []*admission.Object
	for _, o := range objects {
		switch {
		case c.absent[o]:
		case c.merged[o] != nil:
			out = append(out, c.merged[o])
		default:
			out = append(out, o)
		}
	}
	return out
}

// applied returns roots with their objects as they are applied.
func (c *created) applied(roots []*change.Rendered) []*change.Rendered {
	if len(c.absent)+len(c.merged) == 0 {
		return roots
	}
	out := slices.Clone(roots)
	for i, r := range out {
		other := *r
		other.Objects = c.in(r.Objects)
		out[i] = &other
	}
	return out
}

// Applied returns the objects of a root of the state's tree that are applied to the target: all but
// the Namespaces that a sync or Helm creates only if they do not exist.
func (s *State) Applied(r *change.Rendered) []*admission.Object {
	if s == nil {
		return r.All()
	}
	return s.created.in(r.All())
}

// UpdatesOf sets the base of pairs of Namespaces that the base had and for which a sync sets labels for the
// first time: they are updated.
func (t *Target) UpdatesOf(pairs []Pair) []Pair {
	for i, p := range pairs {
		if t.Base == nil || p.Base != nil || p.Head == nil || change.RoleOf(p.Head) != render.RoleNamespace {
			continue
		}
		for _, r := range t.Base.Roots {
			for _, o := range r.Objects {
				if o.GroupVersionKind().GroupKind() == kinds.Namespace && o.Name() == p.Head.Name() {
					pairs[i].Base, pairs[i].Same = o, change.Equal(o, p.Head)
				}
			}
		}
	}
	return pairs
}
