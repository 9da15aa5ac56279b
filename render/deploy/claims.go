package deploy

import (
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/deploy/paths"
)

// indexFiles maps files to the discovered roots that are made of them: a plain root is made of its manifests, another
// root of the root file in its directory.
func (e *expander) indexFiles() {
	if e.files != nil {
		return
	}
	e.files = map[string][]render.RootID{}
	for _, root := range slices.Concat(e.found, e.beside) {
		files := root.Files
		if len(files) == 0 {
			files = paths.RootFiles(e.renderer.Tree(), root.Dir)
		}
		for _, name := range files {
			real := e.renderer.Tree().RealOr(name)
			e.files[real] = append(e.files[real], root.RootID)
		}
	}
}

// claim records the discovered roots whose files a unit reads. If Flux cannot build the directory, these are all roots
// in it. If Argo CD passes the directory to a tool that is not executed, it is the root of the directory. A chart does not
// claim what people apply by hand beside its templates.
func (e *expander) claim(n *node) {
	if n.root.Unit.IsElsewhere() {
		return
	}
	e.indexFiles()
	needs, _ := e.needs(n.root)
	failed, isFlux, ofCharts := needs.Problem != nil, n.object != nil, e.isOfCharts(n)
	for name := range needs.Trace.Reads {
		for _, id := range e.files[name] {
			if (n.app == nil || !n.app.HasPlugin()) && !(ofCharts && e.isBootstrap(id)) {
				e.addClaim(id, n)
			}
		}
	}
	for _, root := range e.found {
		if only := n.root.Unit.Checkout.Only; len(only) > 0 && !slices.ContainsFunc(only, func(dir string) bool { return paths.Within(dir, root.Dir) }) {
			continue // the source does not have it
		}
		if root.Dir == n.root.Dir && (isFlux || failed) || isFlux && failed && paths.Within(n.root.Dir, root.Dir) {
			e.addClaim(root.RootID, n)
		}
	}
}

// isOfCharts reports whether all that a unit applies of this repository are charts.
func (e *expander) isOfCharts(n *node) bool {
	if n.app == nil {
		return n.release != nil
	}
	return !slices.ContainsFunc(n.app.AllSources(), func(s argocd.Source) bool {
		return !s.IsReference() && e.isSelfSource(&s) && argocd.ToolOf(e.renderer.Tree(), &s, paths.InTree(s.Path)) != argocd.ToolHelm
	})
}

func (e *expander) addClaim(id render.RootID, n *node) {
	if !slices.Contains(e.graph.Claims[id], n.root.RootID) {
		e.graph.Claims[id] = append(e.graph.Claims[id], n.root.RootID)
	}
}
