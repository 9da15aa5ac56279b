package kustomize

import (
	"cmp"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provenance"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
)

// anyVersion stands for an unknown version of kustomize.
const anyVersion = "v5.8.1"

// versioned sets the label of buildMetadata managedByLabel to Options.KustomizeVersion: kustomize sets the
// version of the program that contains it.
func (r *Source) versioned(resources resmap.ResMap, c *build.Closure, dir string) error {
	if !isVersioned(c, dir) {
		return nil
	}
	own := managedBy(provenance.GetProvenance().Semver())
	for _, o := range resources.Resources() {
		if o.GetLabels()[konfig.ManagedbyLabelKey] != own {
			continue
		}
		if err := o.PipeE(kyaml.SetLabel(konfig.ManagedbyLabelKey, managedBy(cmp.Or(r.opts.KustomizeVersion, anyVersion)))); err != nil {
			return fmt.Errorf("label %s: %w", o.CurId(), err)
		}
	}
	return nil
}

// unknownVersion marks the label as unknown if the version is unknown.
func (r *Source) unknownVersion(result *render.Result, c *build.Closure) {
	if r.opts.KustomizeVersion != "" || !isVersioned(c, result.Root.Dir) {
		return
	}
	for _, o := range result.Objects {
		o.Unknown = append(o.Unknown, render.Unknown{
			Path: []string{"metadata", "labels", konfig.ManagedbyLabelKey}, Reason: "it names the version of the kustomize that builds it (buildMetadata)",
		})
	}
}

// isVersioned reports whether the kustomization of a directory enables the label. Those of its bases do not
// count.
func isVersioned(c *build.Closure, dir string) bool {
	return slices.ContainsFunc(c.Files, func(k *build.Kustomization) bool {
		return k.Dir == dir && k.Err == nil && slices.Contains(k.Spec.BuildMetadata, types.ManagedByLabelOption)
	})
}

func managedBy(version string) string { return "kustomize-" + version }
