package deploy

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/deploy/argocds"
)

// supposedArgoCDs returns the settings of Argo CD in discovered roots, to begin with until it is known which roots are
// applied.
func (e *expander) supposedArgoCDs() (map[string]argocds.Settings, error) {
	all, err := e.settingsIn(slices.Clone(e.found))
	if err != nil || len(all) != 1 || all[0].Why != "" {
		return nil, err
	}
	return map[string]argocds.Settings{argocd.InCluster: all[0]}, nil
}

// findArgoCDs finds the units, and the settings of the Argo CD of each cluster with Applications. again is set if the
// settings differ from the assumed ones, so that the units must be found again; rounds is how often that may still
// happen.
func (e *expander) findArgoCDs(rounds int) (again bool, err error) {
	if err := e.run(); err != nil {
		return false, err
	}
	found := map[string]argocds.Settings{}
	for _, n := range e.nodes {
		if n.app != nil {
			found[n.cluster.name] = argocds.Settings{}
		}
	}
	for name := range found {
		s, err := e.argoCDOf(e.clusterOf(name), len(found) == 1)
		if err != nil {
			return false, err
		}
		if !s.Same(e.argo[name]) {
			if again = true; rounds == 0 {
				s = argocds.Settings{Why: "they depend on themselves"}
			}
		}
		found[name] = s
	}
	e.argo = found
	if again && rounds >= 0 {
		return true, nil
	}
	for _, n := range e.nodes {
		if a := n.root.Unit.Application; n.app != nil && a != nil && !a.Settled && found[n.cluster.name].Known {
			if a.Settled = true; e.results[n.root.RootID] != nil && e.results[n.root.RootID].Problem != nil {
				delete(e.results, n.root.RootID)
			}
		}
	}
	for _, c := range e.clusters {
		s := found[c.name]
		applied := s.Root.Object != (render.ObjectRef{}) || len(e.graph.Claims[s.Root]) > 0 || slices.Contains(c.bootstrap, s.Root)
		if message := s.Remark(c.name, applied); message != "" {
			e.graph.Diagnostics = append(e.graph.Diagnostics, render.Diagnostic{Severity: render.SeverityNote, Position: render.Position{Path: s.Root.Dir}, Message: message})
		}
	}
	return false, nil
}

// argoCDOf finds the settings of the Argo CD of a cluster: in the roots applied there or, if those have none and it is
// the only Argo CD, in all roots.
func (e *expander) argoCDOf(c *cluster, only bool) (argocds.Settings, error) {
	var here, elsewhere []render.Root
	for _, n := range e.nodes {
		switch {
		case n.root.Unit.Problem != nil || n.excluded != "":
		case n.root.Unit.Cluster == c.name:
			here = append(here, n.root)
		default:
			elsewhere = append(elsewhere, n.root)
		}
	}
	for _, root := range e.found {
		if slices.Contains(c.bootstrap, root.RootID) {
			here = append(here, root)
		} else if len(e.graph.Claims[root.RootID]) == 0 {
			elsewhere = append(elsewhere, root)
		}
	}
	all, err := e.settingsIn(here)
	if err == nil && len(all) == 0 && only {
		all, err = e.settingsIn(elsewhere)
	}
	return argocds.One(all), err
}

// settingsIn returns the settings of Argo CD in roots.
func (e *expander) settingsIn(roots []render.Root) ([]argocds.Settings, error) {
	roots, err := render.Select(e.ctx, roots, func(root render.Root) bool { return e.mayHold(root, argocds.Mentions()...) })
	if err := cmp.Or(err, e.render(roots)); err != nil {
		return nil, err
	}
	roots = slices.DeleteFunc(roots, func(root render.Root) bool {
		needs, _ := e.needs(root)
		return e.results[root.RootID].Problem != nil && needs.Free // nothing indicates that the root has settings
	})
	return argocds.In(roots, e.results, e.opts.ArgoCD.namespace()), nil
}
