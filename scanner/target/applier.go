package target

import (
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
)

// ApplierOf returns the tool that applies a root: Argo CD what an Application applies, Flux what
// its own objects do, else the one that the configuration names. assumed reports that nobody says
// which: then it is Flux, but a refusal that other tools avoid is not certain.
func (t *Target) ApplierOf(root render.Root) (by apply.Applier, assumed bool) {
	switch {
	case root.Kind == render.KindArgoCD:
		return apply.ArgoCD, false
	case root.Unit != nil:
		return apply.Flux, false
	case t.applier != "":
		return t.applier, false
	}
	return apply.Flux, true
}

// AppliedBy returns the tool that applies an object: where nobody says which, the one that applied
// what the cluster has of it, if that was given.
func AppliedBy(live *admission.Object, by apply.Applier, assumed bool) (apply.Applier, bool) {
	if live == nil || !assumed {
		return by, assumed
	}
	if tool := apply.ToolOf(live.Content()); tool != "" {
		return tool, false
	}
	return by, assumed
}

// PolicyApplier returns the tool that applies a policy or binding of a root of the target. It is
// empty where nobody says which, and for what is beside the roots: that is in the cluster already.
func (t *Target) PolicyApplier(o *admission.Object) apply.Applier {
	origin, ok := o.Tag.(change.Origin)
	if !ok || origin.Extra() || !slices.Contains(t.Roots, origin.Side.ID(origin.Root)) {
		return ""
	}
	by, assumed := t.ApplierOf(origin.Root)
	if assumed {
		return ""
	}
	return by
}
