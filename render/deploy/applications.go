package deploy

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/deploy/components"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/fluxtypes"
)

// givenByHand adds the Applications and ApplicationSets that a directory or a file renders to, as if people apply it by
// hand. applied is false if it has none.
func (e *expander) givenByHand(at string) (applied bool, err error) {
	to := e.renderer.Tree().Resolve(at)
	if to.Err != nil {
		return false, nil
	}
	var roots []render.Root
	if !to.IsDir {
		roots = []render.Root{{RootID: render.RootID{Kind: render.KindPlain, Dir: at}, Files: []string{to.Real}}}
	}
	for _, root := range e.found {
		if to.IsDir && root.Dir == at {
			roots = append(roots, root)
		}
	}
	if root, ok := e.renderer.At(at); ok && len(roots) == 0 { // a kustomization that others use as well
		roots = append(roots, root)
	}
	if err := e.render(roots); err != nil {
		return false, err
	}
	var holders []*appHolder
	for _, root := range roots {
		if all := argoIn(e.results[root.RootID]); len(all) > 0 {
			holders = append(holders, &appHolder{root: root, all: all})
		}
	}
	if len(holders) == 0 {
		return false, nil
	}
	e.assumeSelf(holders)
	for _, h := range holders {
		if err := e.addAppEntries(h); err != nil {
			return false, err
		}
	}
	return true, nil
}

// appHolder is a discovered root that holds Applications and that no unit applies.
type appHolder struct {
	root render.Root
	all  []objects.Held
	// dirs are directories of this repository that its Applications apply.
	dirs []string
	// chart is set for a chart. beside is set for a manifest that the kustomization in its directory does not use.
	chart  *node
	beside bool
}

// givenApplications adds the Applications of the options, which the repository does not contain.
func (e *expander) givenApplications() {
	for _, object := range e.opts.ArgoCD.Applications {
		o := &render.Object{JSON: object}
		k := objects.Held{Header: objects.HeaderOf(o), Object: o}
		e.addArgo(nil, e.clusterOf(argocd.InCluster), k)
	}
}

// addArgo adds the units that an Application or an ApplicationSet defines.
func (e *expander) addArgo(parent *node, c *cluster, k objects.Held) {
	switch {
	case k.IsIn(argocd.Kind):
		e.addApplication(parent, c, k)
	case k.IsIn(argocd.SetKind):
		e.addApplicationSet(parent, c, k)
	}
}

// argoMentions are the mentions by which a root may render objects of Argo CD.
var argoMentions = []render.Mention{objects.MentionOf(argocd.Kind), objects.MentionOf(argocd.SetKind)}

// argoIn returns the Applications and ApplicationSets of a result.
func argoIn(r *render.Result) []objects.Held {
	return append(objects.Of(r, argocd.Kind), objects.Of(r, argocd.SetKind)...)
}

// moreApplications adds, as entry points, the Applications in roots that nothing applies: people apply them by hand.
// more is false if none was added.
func (e *expander) moreApplications(seen map[render.RootID]bool) (more bool, err error) {
	holders, err := e.appHolders(seen)
	if err != nil || len(holders) == 0 {
		return false, err
	}
	e.assumeSelf(holders)
	for _, h := range holders {
		h.dirs = e.appliedDirs(h.all)
	}
	holders = slices.DeleteFunc(holders, func(h *appHolder) bool {
		seen[h.root.RootID] = seen[h.root.RootID] || h.beside && !e.appliesItsOwn(h, holders)
		return seen[h.root.RootID]
	})
	if len(holders) == 0 {
		return true, nil
	}
	var entries []*appHolder
	for _, i := range slices.Sorted(slices.Values(slices.Concat(components.Sources(len(holders), func(i int) (next []int) {
		for j, h := range holders {
			if e.appliesAny(holders[i].dirs, h.root) {
				next = append(next, j)
			}
		}
		return next
	})...))) {
		entries = append(entries, holders[i])
	}
	for _, h := range entries {
		seen[h.root.RootID] = true
		e.assumedApps = append(e.assumedApps, h.root.RootID)
		if err := e.addAppEntries(h); err != nil {
			return false, err
		}
	}
	return true, nil
}

// findReached adds to reached the roots of assumedApps that Applications of other roots apply. more is set if it added
// any.
func (e *expander) findReached() (more bool) {
	for _, id := range slices.Backward(e.assumedApps) {
		for _, n := range e.appliersOf(id) {
			if by := e.entryOf(n); by != (render.RootID{}) && by != id && !e.reached[by] {
				e.reached[id], more = true, true
			}
		}
	}
	return more
}

// appliersOf returns the units that apply a root of assumedApps: its files, or its chart.
func (e *expander) appliersOf(id render.RootID) (all []*node) {
	for _, by := range e.graph.Claims[id] {
		if n := e.units[unitKey{by.Cluster, by.Object}]; n != nil {
			all = append(all, n)
		}
	}
	for _, n := range e.nodes {
		if id.Object.Kind == ChartKind && n.app != nil && slices.Contains(e.selfDirs(n.app), id.Dir) {
			all = append(all, n)
		}
	}
	return all
}

// entryOf returns the root of assumedApps with the entry point that leads to a unit; zero if there is none.
func (e *expander) entryOf(n *node) (id render.RootID) {
	for n.parent != nil {
		n = n.parent
	}
	switch {
	case n.app != nil:
		id = n.root.Unit.Parent
	case e.installed[n.root.Object]:
		id = n.root.RootID
		id.Cluster = argocd.InCluster // as in chartHolders
	}
	return id
}

// appliesItsOwn reports whether an unused manifest holds an Application of the manifest's directory, or of one below,
// that no other Application applies. People apply such a manifest by hand: the kustomization there does not contain it.
// Other unused manifests may just be missing from a list of Applications.
func (e *expander) appliesItsOwn(h *appHolder, holders []*appHolder) bool {
	return slices.ContainsFunc(h.dirs, func(dir string) bool {
		return paths.Within(path.Dir(h.root.Dir), dir) && !slices.ContainsFunc(holders, func(other *appHolder) bool {
			return other != h && slices.Contains(other.dirs, dir)
		}) && !slices.ContainsFunc(e.nodes, func(n *node) bool { return n.app != nil && slices.Contains(e.selfDirs(n.app), dir) })
	})
}

// appHolders returns the discovered roots, manifests beside kustomizations and charts that hold Applications and that
// nothing applies.
func (e *expander) appHolders(seen map[render.RootID]bool) ([]*appHolder, error) {
	var roots []render.Root
	for _, root := range slices.Concat(e.found, e.beside) {
		if !seen[root.RootID] && !e.reached[root.RootID] && len(e.graph.Claims[root.RootID]) == 0 && !e.isBootstrap(root.RootID) && e.mayHold(root, argoMentions...) {
			roots = append(roots, root)
		}
	}
	if err := e.render(roots); err != nil {
		return nil, err
	}
	var holders []*appHolder
	for _, root := range roots {
		if all := argoIn(e.results[root.RootID]); len(all) > 0 {
			holders = append(holders, &appHolder{root: root, all: all, beside: slices.ContainsFunc(e.beside, root.Same)})
		} else {
			seen[root.RootID] = true
		}
	}
	charts, err := e.chartHolders(seen)
	return append(holders, charts...), err
}

// appliedDirs returns the directories of this repository that Applications apply.
func (e *expander) appliedDirs(all []objects.Held) []string {
	var dirs []string
	for _, a := range e.applicationsOf(all) {
		dirs = append(dirs, e.selfDirs(a)...)
	}
	return dirs
}

// selfDirs returns the directories of this repository that an Application applies.
func (e *expander) selfDirs(a *argocd.Application) []string {
	var dirs []string
	sources := a.AllSources()
	for i := range sources {
		if s := &sources[i]; s.Chart == "" && !s.IsReference() && e.isSelfSource(s) {
			dirs = append(dirs, paths.InTree(s.Path))
		}
	}
	return dirs
}

// applicationsOf returns the Applications among objects, and those that ApplicationSets generate.
func (e *expander) applicationsOf(all []objects.Held) []*argocd.Application {
	var found []*argocd.Application
	for _, k := range all {
		if !k.IsIn(argocd.Kind) {
			generated, _ := e.generate(k) // addApplicationSet reports the error
			for _, g := range generated {
				if a, err := argocd.Parse(g.Object); err == nil {
					found = append(found, a)
				}
			}
			continue
		}
		if a, err := argocd.Parse(k.Object.JSON); err == nil {
			found = append(found, a)
		}
	}
	return found
}

func (e *expander) appliesAny(dirs []string, root render.Root) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return e.appliesRoot(dir, root) })
}

// addAppEntries adds the Applications of a root that is applied by hand. If another root holds or generates an
// Application or ApplicationSet of the same name with another content, the two roots are for different clusters, and so
// are two files of one root.
func (e *expander) addAppEntries(h *appHolder) error {
	name := argocd.InCluster
	if e.hasOther(name, h.all) {
		name = h.root.Dir
	}
	if h.chart != nil {
		return e.install(h.chart, name)
	}
	for i, file := range objects.ByFile(h.all, e.origins.fileOf) {
		c := e.clusterOf(name)
		if file.Name != "" && i < maxFiles && e.hasOther(name, file.All) {
			c = e.clusterOf(file.Name)
		}
		if !slices.Contains(c.bootstrap, h.root.RootID) {
			c.bootstrap = append(c.bootstrap, h.root.RootID)
		}
		for _, k := range file.All {
			e.addArgo(nil, c, k)
		}
	}
	return nil
}

// hasOther reports whether one of several Applications and ApplicationSets, or an Application that these generate, has
// the name of one in a cluster but another content.
func (e *expander) hasOther(cluster string, all []objects.Held) bool {
	isOther := func(h *objects.Header, object []byte) bool {
		known := e.units[unitKey{cluster, e.argoRef(h)}]
		return known != nil && !bytes.Equal(known.root.Unit.Object, object)
	}
	return slices.ContainsFunc(all, func(k objects.Held) bool {
		if k.IsIn(argocd.Kind) {
			return isOther(k.Header, k.Object.JSON)
		}
		if known := e.sets[unitKey{cluster, e.argoRef(k.Header)}]; known != nil {
			return !bytes.Equal(known.Object.JSON, k.Object.JSON)
		}
		generated, _ := e.generate(k) // addApplicationSet reports the error
		return slices.ContainsFunc(generated, func(g appset.Generated) bool {
			return isOther(objects.HeaderOf(&render.Object{JSON: g.Object}), g.Object)
		})
	})
}

// namedBy returns the git sources of Applications and the git directories of ApplicationSets.
func (e *expander) namedBy(all []objects.Held) []argocd.Source {
	var named []argocd.Source
	for _, a := range e.applicationsOf(all) {
		named = append(named, a.AllSources()...)
	}
	for _, k := range all {
		if k.IsIn(argocd.SetKind) {
			named = append(named, appset.Reads(k.Object.JSON)...)
		}
	}
	return slices.DeleteFunc(named, func(s argocd.Source) bool { return s.RepoURL == "" || s.Chart != "" })
}

// assumeSelf guesses the URL of this repository if nothing sets it: it is the URL that most sources and git generators
// have whose directories exist in the tree.
func (e *expander) assumeSelf(holders []*appHolder) {
	if e.assumed != "" {
		return
	}
	counts := map[string]int{}
	for _, h := range holders {
		for _, named := range e.namedBy(h.all) {
			if e.isRemote(named.RepoURL) {
				return
			}
			if to := e.renderer.Tree().Resolve(paths.InTree(named.Path)); named.Path != "" && named.Path != "." && to.Err == nil && to.IsDir {
				counts[fluxtypes.Address(named.RepoURL)]++
			}
		}
	}
	if len(counts) == 0 {
		return
	}
	e.assumed = slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	e.graph.Diagnostics = append(e.graph.Diagnostics, render.Diagnostic{
		Severity: render.SeverityNote, Position: render.Position{Path: holders[0].root.Dir},
		Message: fmt.Sprintf("the URL of this repository is not known: %s is assumed, because the repository has the directories of the Argo CD sources with this URL (set `self` in the configuration otherwise)", e.assumed),
	})
}
