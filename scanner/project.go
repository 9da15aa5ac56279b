package scanner

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/project"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/target"
)

// denial is a violation of the AppProject of an Application.
type denial struct {
	object report.Object
	render.Forbidden
}

// forbidden returns the findings for violations of AppProjects by the Applications that the change touches. Argo CD
// checks AppProjects before it sends anything to the API server.
func (s *scan) forbidden(ctx context.Context) []lines.Finding {
	var all []lines.Finding
	for _, root := range s.Head.Found.Roots {
		r := s.Head.Roots[root.RootID]
		if r == nil || root.Kind != render.KindArgoCD || s.Base != nil && !s.ledger.Touched[root.RootID] {
			continue
		}
		before := s.deniedBefore(root)
		for _, d := range s.denials(change.Head, r) {
			f := denied(ctx, r.Root, d, change.Head)
			if slices.Contains(before, d) {
				f.Status = report.StatusExisting
			}
			all = append(all, f)
		}
	}
	return all
}

// deniedBefore returns the denials in the base for a root of the head.
func (s *scan) deniedBefore(root render.Root) []denial {
	if s.Base == nil {
		return nil
	}
	for _, r := range s.Base.Roots {
		if r.Root.Kind == render.KindArgoCD && r.Root.Object == root.Object && r.Root.Cluster == root.Cluster {
			return s.denials(change.Base, r)
		}
	}
	return nil
}

// stateOf returns the cluster state of the target of a root in a tree; nil if there is none.
func (s *scan) stateOf(tree string, r *change.Rendered) *target.State {
	for _, t := range s.targets {
		state := t.Head
		if tree == change.Base {
			state = t.Base
		}
		if slices.ContainsFunc(state.Roots, func(of *change.Rendered) bool { return of.ID == r.ID }) {
			return state
		}
	}
	return nil
}

// denials returns the violations of its AppProject by an Application of a tree: those of the Application itself or,
// if there are none, those of its objects.
func (s *scan) denials(tree string, r *change.Rendered) []denial {
	u := r.Root.Unit
	if u == nil || u.Application == nil || len(u.Application.Project) == 0 {
		return nil
	}
	var all []denial
	for _, f := range u.Application.Forbidden {
		id := r.Root.Object
		all = append(all, denial{report.Object{APIVersion: argocd.Group + "/v1alpha1", Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}, f})
	}
	permits, err := project.Parse(u.Application.Project)
	if err != nil || len(all) > 0 { // a parse error was reported before
		return all
	}
	state := s.stateOf(tree, r)
	for _, o := range state.Applied(r) { // without hooks that a sync does not run
		namespaced := o.Namespace() != ""
		if state != nil {
			namespaced = state.Cluster.Key(o).Namespace != ""
		}
		if d, ok := deniedObject(permits, argocd.Destination(u.Application.Destination), o, namespaced); ok {
			all = append(all, d)
		}
	}
	return all
}

// deniedObject returns the violation of a project by an object. namespaced is whether the object's kind is
// namespaced.
func deniedObject(permits *project.Project, to argocd.Destination, o *admission.Object, namespaced bool) (denial, bool) {
	apiVersion, kind := o.GroupVersionKind().ToAPIVersionAndKind()
	object := report.Object{APIVersion: apiVersion, Kind: kind, Name: o.Name(), GenerateName: o.GenerateName()}
	if namespaced {
		object.Namespace = o.Namespace()
	}
	message := permits.ForbidsObject(o.GroupVersionKind().Group, kind, object.Namespace, o.Name(), namespaced, to)
	return denial{object, render.Forbidden{Field: "spec.project", Message: message}}, message != ""
}

// denied returns the finding for a denial, on the line of the Application that causes it.
func denied(ctx context.Context, root render.Root, d denial, tree string) lines.Finding {
	return lines.Finding{Finding: report.Finding{
		Status: report.StatusNew, Action: report.ActionDeny, Actions: []report.Action{report.ActionDeny}, Cause: report.CauseProject,
		Message: d.Message, Reason: "Forbidden", Object: &d.object, Root: root.RootID.String(),
		Location: change.LocationOf(root.Unit.Position(ctx, d.Field), tree),
	}, Located: true}
}
