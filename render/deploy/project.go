package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/argocd/project"
)

// findProjects sets the AppProjects of the units of Applications, what the projects forbid, and the fields that the
// settings of Argo CD ignore.
func (e *expander) findProjects() error {
	for _, n := range slices.Clone(e.nodes) {
		if n.app == nil || n.root.Unit.Application == nil {
			continue
		}
		e.findSettings(n)
		if err := e.findProject(n); err != nil {
			return err
		}
	}
	return nil
}

func (e *expander) findProject(n *node) error {
	ref := render.ObjectRef{Group: argocd.Group, Kind: argocd.ProjectKind.Kind, Namespace: e.opts.ArgoCD.namespace(), Name: n.app.Project()}
	found, ok, err := e.lookUp(n.cluster, ref)
	switch {
	case err != nil:
		return err
	case !ok && ref.Name == argocd.DefaultProject:
		return nil
	case !ok:
		e.notJudged(n, "spec.project", fmt.Sprintf("the AppProject %s is not among what the repository deploys: what it forbids is not judged", ref.Name))
		return nil
	}
	p, err := project.Parse(found.Object.JSON)
	if why := found.Object.UnknownSpec(); why != "" {
		err = errors.New(why)
	}
	if err != nil {
		e.notJudged(n, "spec.project", fmt.Sprintf("what the AppProject %s forbids is not known: %v", ref.Name, err))
		return nil
	}
	if e.mayInherit(n.cluster, p) {
		e.notJudged(n, "spec.project", fmt.Sprintf("the AppProject %s has labels, by which a global project may permit or forbid more: what it forbids is not judged; the ConfigMap argocd-cm without globalProjects says that there is none", ref.Name))
		return nil
	}
	to, whole := appset.Destination(n.app.Spec.Destination, e.opts.ArgoCD.Clusters)
	if field, why := p.Undecided(to, whole); why != "" {
		e.notJudged(n, field, why)
		return nil
	}
	n.root.Unit.Application.Project = found.Object.JSON
	n.root.Unit.Application.Destination = render.ApplicationDestination(to)
	for _, f := range p.Forbids(n.app, to, e.opts.ArgoCD.namespace()) {
		n.root.Unit.Application.Forbidden = append(n.root.Unit.Application.Forbidden, render.Forbidden(f))
	}
	e.impersonate(n, p, to)
	return nil
}

// mayInherit reports whether an AppProject may inherit from a global project: the globalProjects of argocd-cm select
// AppProjects by their labels, which is not evaluated.
func (e *expander) mayInherit(c *cluster, p *project.Project) bool {
	if len(p.Metadata.Labels) == 0 {
		return false
	}
	s := e.argo[c.name]
	return !s.Known || s.GlobalProjects
}

// findSettings applies the settings of Argo CD to an Application: the ignored fields, and the version of kustomize.
func (e *expander) findSettings(n *node) {
	s := e.argo[n.cluster.name]
	if field, version := n.app.KustomizeVersion(); version != "" {
		e.notJudged(n, field, s.OfKustomize(version, s.Known))
	}
	if !s.Known || !n.app.Spec.LeavesIgnored() {
		return
	}
	fields, err := s.Ignored()
	if err != nil {
		e.notJudged(n, "spec.syncPolicy.syncOptions", fmt.Sprintf("which fields the ConfigMap argocd-cm leaves to others is not known, and Argo CD does not synchronize by it: %v", err))
		return
	}
	apply := &n.root.Unit.Apply
	apply.Ignored = slices.Concat(apply.Ignored, fields)
}

// impersonate sets the user of an Application to the service account that its AppProject names, if impersonation is
// enabled in Argo CD. If the settings are not known, a project that names service accounts is assumed to use them.
func (e *expander) impersonate(n *node, p *project.Project, to argocd.Destination) {
	s := e.argo[n.cluster.name]
	if s.Known && !s.Impersonation || !s.Known && len(p.Spec.DestinationServiceAccounts) == 0 {
		return
	}
	user, decided, err := p.Impersonates(n.app, to)
	switch {
	case !decided:
		e.notJudged(n, "spec.destination", fmt.Sprintf("which service account the AppProject %s names for its destination is not known: %s is none of argocd.clusters of the configuration", p.Metadata.Name, cmp.Or(to.Name, to.Server)))
	case err != nil:
		n.root.Unit.Application.Forbidden = append(n.root.Unit.Application.Forbidden, render.Forbidden{Field: "spec.destination", Message: err.Error()})
	default:
		n.root.Unit.Apply.User = user
	}
}

// notJudged adds a gap for what is not judged of a unit.
func (e *expander) notJudged(n *node, field, why string) {
	e.graph.Gaps = append(e.graph.Gaps, render.Gap{
		Kind: render.GapSync, Root: n.root.RootID, Position: render.Position{Path: n.root.Dir}, Locate: n.locator(field), Why: why, Identity: why,
	})
}
