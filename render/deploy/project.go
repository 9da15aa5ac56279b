package deploy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/argocd/project"
	"github.com/preadmit/preadmit/render/argocd/settings"
)

// findProjects sets the AppProjects of the units of Applications, what these forbid, and what the
// settings of Argo CD leave to others.
func (e *expander) findProjects() error {
	for _, n := range slices.Clone(e.nodes) {
		if n.app == nil || n.root.Unit.Application == nil {
			continue
		}
		if err := cmp.Or(e.findProject(n), e.findSettings(n)); err != nil {
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
	if why := found.Object.UnknownSpec(); why != "" {
		e.notJudged(n, "spec.project", fmt.Sprintf("what the AppProject %s forbids is not known: %s", ref.Name, why))
		return nil
	}
	p, err := project.Parse(found.Object.JSON)
	if err != nil {
		e.notJudged(n, "spec.project", fmt.Sprintf("what the AppProject %s forbids is not known: %v", ref.Name, err))
		return nil
	}
	inherits, err := e.mayInherit(n.cluster, p)
	if err != nil {
		return err
	}
	if inherits {
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
	return e.impersonate(n, p, to)
}

// mayInherit reports whether an AppProject may have more of a global project: the globalProjects of
// argocd-cm select AppProjects by their labels, and are not followed.
func (e *expander) mayInherit(c *cluster, p *project.Project) (bool, error) {
	if len(p.Metadata.Labels) == 0 {
		return false, nil
	}
	settings, known, err := e.settings(c)
	return !known || settings.GlobalProjects, err
}

// settings are those of Argo CD; known is false when the repository does not have them.
func (e *expander) settings(c *cluster) (s settings.Settings, known bool, err error) {
	found, ok, err := e.lookUp(c, render.ObjectRef{Kind: "ConfigMap", Namespace: e.opts.ArgoCD.namespace(), Name: settings.Name})
	if err != nil || !ok || found.Object.UnknownSpec() != "" {
		return s, false, err
	}
	s, err = settings.Parse(found.Object.JSON)
	return s, err == nil, nil
}

// findSettings adds the settings of Argo CD for an Application: the fields that are left to others, and which
// kustomize there is.
func (e *expander) findSettings(n *node) error {
	field, version := n.app.KustomizeVersion()
	if !n.app.Spec.LeavesIgnored() && version == "" {
		return nil
	}
	settings, known, err := e.settings(n.cluster)
	if version != "" && err == nil {
		e.notJudged(n, field, settings.OfKustomize(version, known))
	}
	if err != nil || !known || !n.app.Spec.LeavesIgnored() {
		return err
	}
	fields, err := settings.Ignored()
	if err != nil {
		e.notJudged(n, "spec.syncPolicy.syncOptions", fmt.Sprintf("which fields the ConfigMap argocd-cm leaves to others is not known, and Argo CD does not synchronize by it: %v", err))
		return nil
	}
	apply := &n.root.Unit.Apply
	apply.Ignored = slices.Concat(apply.Ignored, fields)
	return nil
}

// impersonate has the service account that an AppProject names apply an Application, where Argo CD is set to.
// A project that names some is taken to mean it where the settings are not known.
func (e *expander) impersonate(n *node, p *project.Project, to argocd.Destination) error {
	settings, known, err := e.settings(n.cluster)
	if err != nil || known && !settings.Impersonation || !known && len(p.Spec.DestinationServiceAccounts) == 0 {
		return err
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
	return nil
}

// notJudged adds what is not judged of an Application.
func (e *expander) notJudged(n *node, field, why string) {
	e.graph.Gaps = append(e.graph.Gaps, render.Gap{
		Kind: render.GapSync, Root: n.root.RootID, Position: render.Position{Path: n.root.Dir}, Locate: n.later(field), Why: why, Identity: why,
	})
}
