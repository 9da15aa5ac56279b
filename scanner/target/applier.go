package target

import (
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
)

// ApplierOf returns the tool that applies a root: Argo CD for an Application, Flux for an object of
// Flux, else the configured tool. assumed reports that none is configured: by is then Flux, but a
// refusal that other tools avoid is not certain.
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

// AppliedBy returns the tool that applies an object. If by is only assumed and the live object is
// known, it is the tool that applied that.
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
// empty if that is not known, and for objects given beside the roots, which are in the cluster
// already.
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
