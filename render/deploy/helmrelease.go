package deploy

import (
	"cmp"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/data"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/flux"
)

// addRelease adds the unit of a HelmRelease that another unit applies.
func (e *expander) addRelease(parent *node, k objects.Held) {
	n := &node{cluster: e.clusterOf(parent.root.Unit.Cluster), parent: parent, depth: parent.depth + 1, release: &releases.HelmRelease{}}
	key := unitKey{n.cluster.name, k.Ref()}
	if known := e.units[key]; known != nil {
		if !(&render.Unit{Object: known.root.Unit.Object}).Same(&render.Unit{Object: k.Object.JSON}) {
			e.appliedDifferently(known, n, k)
		}
		return
	}
	e.units[key] = n
	e.nodes = append(e.nodes, n)
	u := &render.Unit{
		Object: k.Object.JSON, Parent: k.Root, Index: k.Object.Index, Cluster: n.cluster.name,
		Checkout: render.Checkout{Top: "."}, Origins: e.origins.of,
	}
	n.root = render.Root{RootID: render.RootID{Kind: render.KindHelm, Dir: k.Root.Dir, Object: k.Ref(), Cluster: n.cluster.name}, Unit: u}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(u.Object, n.release); err != nil {
		n.fail(render.ProblemFailed, "spec", "not a HelmRelease of Flux: "+err.Error())
		return
	}
	for _, field := range flux.UnknownReleaseFields(u.Object) {
		e.diagnose(n, render.SeverityWarning, field, fmt.Sprintf("%s is no field of a HelmRelease: a server refuses it or leaves it out", field))
	}
	u.Apply, u.Cluster = n.release.Apply(), n.release.Spec.KubeConfig.Cluster(n.cluster.name, n.release.Namespace())
	spec := n.release.Spec
	u.Release = &render.Release{
		Upgrade:     e.opts.Upgrade,
		KubeVersion: cmp.Or(e.opts.KubeVersion, defaultKubeVersion),
		Install:     cmp.Or(spec.Install.CRDs, "Create"), Reapply: cmp.Or(spec.Upgrade.CRDs, "Skip"),
		NoDeletionHooks: spec.Uninstall.DisableHooks, CreateNamespace: n.release.CreatesNamespace(),
	}
	if spec.Install.SkipCRDs {
		u.Release.Install = "Skip"
	}
	for _, unknown := range k.Object.Unknown {
		if flux.DecidesRelease(unknown) {
			n.fail(render.ProblemRefused, "spec", fmt.Sprintf("the field %s of the HelmRelease is not known: %s", unknown.Field(), unknown.Reason))
			return
		}
		if len(unknown.Path) > 0 && unknown.Path[0] == "spec" {
			u.Release.Unknown = append(u.Release.Unknown, unknown)
		}
	}
	if len(e.nodes) > maxUnits {
		n.fail(render.ProblemRefused, "", fmt.Sprintf("there are more than %d units", maxUnits))
	}
}

// resolveRelease finds the chart and the values of a release.
func (e *expander) resolveRelease(n *node) error {
	if err := e.resolveChart(n); err != nil {
		return err
	}
	n.resolved = true
	if n.root.Unit.Problem != nil && n.root.Unit.Release == nil {
		return nil
	}
	return e.resolveValues(n) // even if the chart is missing, so that changes of values are seen
}

// resolveValues finds the ConfigMaps and Secrets that the values of a release are taken from.
func (e *expander) resolveValues(n *node) error {
	for i, from := range n.release.Spec.ValuesFrom {
		field := fmt.Sprintf("spec.valuesFrom[%d]", i)
		if from.Kind != "ConfigMap" && from.Kind != "Secret" {
			n.invalid(field, fmt.Sprintf("values from %q: only ConfigMap and Secret are allowed", from.Kind))
			return nil
		}
		object := render.ObjectRef{Kind: from.Kind, Namespace: n.release.Namespace(), Name: from.Name}
		found, ok, err := e.lookUp(n.cluster, object)
		if err != nil {
			return err
		}
		reference := render.Reference{Object: object, TargetPath: from.TargetPath, Literal: from.Literal}
		key := from.Key()
		switch {
		case !ok && from.Optional:
			e.diagnose(n, render.SeverityNote, field, fmt.Sprintf("%s is optional and not in the repository: it is taken to have no values", object))
			continue
		case !ok && e.opts.Before.Deletes(n.cluster.name, object):
			n.invalid(field, fmt.Sprintf("%s, from which values are taken, is deleted by the change", object))
			return nil
		case !ok:
			reference.Unknown = fmt.Sprintf("%s, from which values are taken, is not in the repository", object)
		default:
			values, whole := data.Of(found.Object, found.Root, found.Ref())
			value, has := values[key]
			switch {
			case has:
				reference.Data, reference.Unknown, reference.Holds, reference.Written = value.Text, value.Unknown, value.HoldsOfValues(), value.Written
			case whole != "":
				reference.Unknown = whole
			case from.Optional:
				continue
			default:
				n.invalid(field, fmt.Sprintf("%s, from which values are taken, has no key %s", object, key))
				return nil
			}
		}
		n.root.Unit.Release.References = append(n.root.Unit.Release.References, reference)
	}
	return nil
}
