package deploy

import (
	"maps"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/components"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/flux"
)

// holder is a discovered root that holds Kustomizations and that no unit applies.
type holder struct {
	root render.Root
	// all are its Kustomizations, self those of them whose source may be this repository.
	all  []objects.Held
	self []*flux.Kustomization
	// applies are the indexes of the holders in directories that its Kustomizations apply, which may include its own.
	applies []int
	// itself is set if applies includes its own.
	itself bool
}

// moreEntries adds, as entry points, the Kustomizations in roots that nothing applies: first those that apply
// themselves, and if there are no more, others. more is false if none was added.
func (e *expander) moreEntries(seen map[render.RootID]bool) (more bool, err error) {
	holders, err := e.holders(seen)
	if err != nil || len(holders) == 0 {
		return false, err
	}
	e.findApplied(holders)
	var loose []*holder
	for _, component := range sources(holders) {
		k, dir, ok := e.appliesItself(holders, component)
		if !ok {
			loose = append(loose, component...)
			continue
		}
		e.addEntry(dir, k, idsOf(component))
		more = true
		for _, h := range component {
			seen[h.root.RootID] = true
		}
	}
	if more {
		return true, nil
	}
	for _, h := range loose {
		seen[h.root.RootID] = true
	}
	return true, e.addLoose(loose)
}

// plausible returns the roots that somebody may be assumed to apply although nothing in the repository shows it. If an
// entry point is known, these are only the roots of other clusters beside it: the other roots belong to its cluster,
// and it does not apply them.
func (e *expander) plausible(loose []*holder) []*holder {
	known := len(e.nodes) > 0
	return slices.DeleteFunc(loose, func(h *holder) bool {
		if !known {
			return paths.IsHidden(h.root.Dir) && slices.ContainsFunc(loose, func(other *holder) bool { return !paths.IsHidden(other.root.Dir) })
		}
		return paths.IsHidden(h.root.Dir) || !e.isBesideEntry(paths.OfCluster(h.root.Dir))
	})
}

// isBesideEntry reports whether a directory is one of several clusters: clusters/NAME, or a sibling of the directory of
// an entry point.
func (e *expander) isBesideEntry(dir string) bool {
	if path.Base(path.Dir(dir)) == "clusters" {
		return true
	}
	return slices.ContainsFunc(e.nodes, func(n *node) bool {
		return n.parent == nil && path.Dir(n.root.Dir) == path.Dir(dir) && path.Dir(dir) != "."
	})
}

func idsOf(holders []*holder) []render.RootID {
	var ids []render.RootID
	for _, h := range holders {
		ids = append(ids, h.root.RootID)
	}
	return ids
}

// holders returns the discovered roots that hold Kustomizations and that nothing applies.
func (e *expander) holders(seen map[render.RootID]bool) ([]*holder, error) {
	var roots []render.Root
	for _, root := range e.found {
		if !seen[root.RootID] && len(e.graph.Claims[root.RootID]) == 0 && !e.isBootstrap(root.RootID) && e.mayHold(root, objects.MentionOf(flux.Kind)) {
			roots = append(roots, root)
		}
	}
	if err := e.render(roots); err != nil {
		return nil, err
	}
	for _, root := range roots {
		if len(objects.Of(e.results[root.RootID], flux.Kind)) == 0 {
			seen[root.RootID] = true
		}
	}
	return e.holdersOf(roots), nil
}

// holdersOf returns the holders among rendered roots.
func (e *expander) holdersOf(roots []render.Root) (holders []*holder) {
	for _, root := range roots {
		if all := objects.Of(e.results[root.RootID], flux.Kind); len(all) > 0 {
			holders = append(holders, &holder{root: root, all: all})
		}
	}
	ids := idsOf(holders)
	for _, h := range holders {
		for _, k := range h.all {
			if parsed, err := flux.Parse(k.Object.JSON); err == nil && e.follows(parsed, ids) {
				h.self = append(h.self, parsed)
			}
		}
	}
	return holders
}

func (e *expander) isBootstrap(id render.RootID) bool {
	return slices.ContainsFunc(e.clusters, func(c *cluster) bool { return slices.Contains(c.bootstrap, id) })
}

// findApplied finds which holders apply which. If a cluster applies itself, and copied files make another cluster apply
// it too, it remains a cluster of its own.
func (e *expander) findApplied(holders []*holder) {
	for i, h := range holders {
		for _, k := range h.self {
			dir := e.dirOf(k)
			for j, other := range holders {
				if e.appliesRoot(dir, other.root) && !slices.Contains(h.applies, j) {
					h.applies = append(h.applies, j)
				}
			}
		}
		h.itself = slices.Contains(h.applies, i)
	}
	for _, h := range holders {
		h.applies = slices.DeleteFunc(h.applies, func(i int) bool {
			return holders[i].itself && paths.AreClusters(paths.OfCluster(holders[i].root.Dir), paths.OfCluster(h.root.Dir))
		})
	}
}

// appliesRoot reports whether Flux reads the files of a root when it builds a directory.
func (e *expander) appliesRoot(dir string, root render.Root) bool {
	if at, ok := e.renderer.At(dir); ok {
		reads := e.renderer.Needs(at).Trace.Reads
		return slices.ContainsFunc(append(paths.RootFiles(e.renderer.Tree(), root.Dir), root.Files...), func(name string) bool { return reads[e.renderer.Tree().RealOr(name)] != "" })
	}
	return paths.Within(dir, root.Dir)
}

// appliesItself returns a Kustomization that applies all roots of a component of the graph, including its own.
func (e *expander) appliesItself(holders, component []*holder) (k objects.Held, dir string, ok bool) {
	for _, h := range component {
		for _, k := range h.all {
			parsed, err := flux.Parse(k.Object.JSON)
			if err != nil || !e.follows(parsed, idsOf(holders)) {
				continue
			}
			dir := e.dirOf(parsed)
			if !slices.ContainsFunc(component, func(other *holder) bool { return !e.appliesRoot(dir, other.root) }) {
				return k, dir, true
			}
		}
	}
	return objects.Held{}, "", false
}

// sources returns the strongly connected components of the graph of holders that no other component applies.
func sources(holders []*holder) (out [][]*holder) {
	for _, component := range components.Sources(len(holders), func(i int) []int { return holders[i].applies }) {
		out = append(out, nil)
		for _, i := range component {
			out[len(out)-1] = append(out[len(out)-1], holders[i])
		}
	}
	return out
}

// addLoose adds the entry points of roots that nothing in the repository applies. If the source of their Kustomizations
// is not in the repository, `flux bootstrap` or flux-operator created it together with a Kustomization of the same name
// that applies the directory. Otherwise the roots are applied by hand, if that is plausible given the entry points
// added before.
func (e *expander) addLoose(loose []*holder) error {
	var byHand []*holder
	loose = e.plausible(loose)
	groups := groupsOf(loose)
	for _, dir := range slices.Sorted(maps.Keys(groups)) {
		if source, ok := e.missingSource(groups[dir]); ok && e.wouldRender(dir) {
			e.addImplied(dir, source, groups[dir])
		} else {
			byHand = append(byHand, groups[dir]...)
		}
	}
	groups = groupsOf(e.plausible(byHand))
	for _, dir := range slices.Sorted(maps.Keys(groups)) {
		ids := idsOf(groups[dir])
		for _, h := range groups[dir] {
			for _, k := range h.all {
				e.addApplied(dir, k, ids, e.follows)
			}
		}
	}
	return e.ctx.Err()
}

// groupsOf groups roots by the directory of their cluster.
func groupsOf(loose []*holder) map[string][]*holder {
	groups := map[string][]*holder{}
	for _, h := range loose {
		dir := paths.OfCluster(h.root.Dir)
		for _, other := range loose {
			if above := paths.OfCluster(other.root.Dir); paths.Within(above, dir) {
				dir = above
			}
		}
		groups[dir] = append(groups[dir], h)
	}
	return groups
}

// missingSource returns the source that most Kustomizations of the roots refer to and that no root holds; the first one
// if several are equal.
func (e *expander) missingSource(group []*holder) (found render.ObjectRef, ok bool) {
	c := &cluster{bootstrap: idsOf(group)}
	count := map[render.ObjectRef]int{}
	var refs []render.ObjectRef
	for _, h := range group {
		for _, k := range h.self {
			ref := k.SourceRef()
			if _, ok := e.known(c, ref); !ok {
				count[ref]++
				refs = append(refs, ref)
			}
		}
	}
	for _, ref := range refs {
		if count[ref] > count[found] {
			found = ref
		}
	}
	return found, len(refs) > 0
}
