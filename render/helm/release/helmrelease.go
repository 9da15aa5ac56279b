package release

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/helm/values"
)

// HelmRelease has the fields of a Flux HelmRelease that decide what is applied. They are the same in versions
// v2beta1, v2beta2 and v2.
type HelmRelease struct {
	Namespace, Name string
	Spec            Spec
}

// Spec is the `spec` of a HelmRelease.
type Spec struct {
	ChartRef struct {
		Kind string `json:"kind"`
	} `json:"chartRef"`
	ReleaseName      string                 `json:"releaseName"`
	TargetNamespace  string                 `json:"targetNamespace"`
	StorageNamespace string                 `json:"storageNamespace"`
	Suspend          bool                   `json:"suspend"`
	Values           Values                 `json:"values"`
	ValuesFrom       []fluxtypes.ValuesFrom `json:"valuesFrom"`
	Install          Action                 `json:"install"`
	Upgrade          Action                 `json:"upgrade"`
	Test             struct {
		Enable bool `json:"enable"`
	} `json:"test"`
	PostRenderers []struct {
		Kustomize *PostRenderer `json:"kustomize"`
	} `json:"postRenderers"`
	PostRenderStrategy string   `json:"postRenderStrategy"`
	CommonMetadata     Metadata `json:"commonMetadata"`
}

// Values are values in the types of Helm: numbers are floating point.
type Values map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (v *Values) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, (*map[string]any)(v))
}

// Action contains the options of an install or upgrade.
type Action struct {
	// CRDs is Skip, Create or CreateReplace.
	CRDs                    string `json:"crds"`
	DisableHooks            bool   `json:"disableHooks"`
	DisableSchemaValidation bool   `json:"disableSchemaValidation"`
	SkipCRDs                bool   `json:"skipCRDs"`
	// ServerSideApply is false for an install, and `disabled` for an upgrade, to create and patch objects as
	// kubectl does; else server-side apply is used.
	ServerSideApply any `json:"serverSideApply"`
	// ChartNameChangeStrategy is Reinstall, or InPlaceUpdate to upgrade a release to a chart with another
	// name.
	ChartNameChangeStrategy string `json:"chartNameChangeStrategy"`
	// PreserveValues makes an upgrade merge the previous release's values with its own.
	PreserveValues bool `json:"preserveValues"`
}

// ParseHelmRelease decodes a HelmRelease. Field names are case-sensitive, as in an API server.
func ParseHelmRelease(data []byte) (*HelmRelease, error) {
	var object struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
		Spec Spec `json:"spec"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &object); err != nil {
		return nil, fmt.Errorf("HelmRelease: %w", err)
	}
	return &HelmRelease{object.Metadata.Namespace, object.Metadata.Name, object.Spec}, nil
}

// ReleaseNamespace returns the namespace of the release's objects that have none.
func (h *HelmRelease) ReleaseNamespace() string {
	if h.Spec.TargetNamespace != "" {
		return h.Spec.TargetNamespace
	}
	return h.Namespace
}

// ReleaseName returns the name of the release. A name that is too long is cut and gets a hash as suffix.
func (h *HelmRelease) ReleaseName() string {
	name := h.Name
	switch {
	case h.Spec.ReleaseName != "":
		name = h.Spec.ReleaseName
	case h.Spec.TargetNamespace != "":
		name = h.Spec.TargetNamespace + "-" + h.Name
	}
	const longest, hash = 53, 12
	if len(name) <= longest {
		return name
	}
	return name[:longest-hash-1] + "-" + fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:hash]
}

// Values returns the values of the release, given the values of its references in order. Missing optional ones
// are left out.
func (h *HelmRelease) Values(references []values.Reference) (map[string]any, error) {
	var inline map[string]any
	if h.Spec.Values != nil {
		inline = copyOf(h.Spec.Values)
	}
	return values.Merge(references, inline)
}

// copyOf copies a value that was decoded from JSON.
func copyOf(m map[string]any) map[string]any {
	var made map[string]any
	_ = json.Unmarshal(encode(m), &made) // cannot fail: decoded from JSON
	return made
}

// Release returns the release that Flux installs for a HelmRelease, or upgrades if upgrade is set.
func (h *HelmRelease) Release(c *Chart, user map[string]any, capabilities *common.Capabilities, upgrade bool) *Release {
	action, defaults := h.Spec.Install, "Create"
	if upgrade {
		action, defaults = h.Spec.Upgrade, "Skip"
	}
	if action.CRDs == "" {
		action.CRDs = defaults
	}
	r := &Release{
		Chart: c, Values: user, Capabilities: capabilities,
		Release:        values.Release{Name: h.ReleaseName(), Namespace: h.ReleaseNamespace(), Upgrade: upgrade},
		CommonMetadata: h.Spec.CommonMetadata,
		Strategy:       h.Spec.PostRenderStrategy,
		SkipSchema:     action.DisableSchemaValidation,
		SkipCRDs:       action.CRDs == "Skip" || action.SkipCRDs,
		Labels: map[string]string{
			"helm.toolkit.fluxcd.io/name": h.Name, "helm.toolkit.fluxcd.io/namespace": h.Namespace,
		},
	}
	for _, p := range h.Spec.PostRenderers {
		if p.Kustomize != nil {
			r.PostRenderers = append(r.PostRenderers, *p.Kustomize)
		}
	}
	r.Options.Seed = h.Namespace + "/" + h.Name
	return r
}

// Hook returns when Flux creates and deletes a hook of a release, and whether the install or upgrade creates
// it: test hooks only if the HelmRelease enables tests, hooks of other actions never.
func (h *HelmRelease) Hook(o *Object, r *render.Release) (hook *render.Hook, runs bool) {
	upgrade := r.Upgrade
	has := func(events ...helmrelease.HookEvent) bool {
		return slices.ContainsFunc(events, func(e helmrelease.HookEvent) bool { return slices.Contains(o.Events, e.String()) })
	}
	tested := h.Spec.Test.Enable && has(helmrelease.HookTest)
	installed := !h.Spec.Install.DisableHooks && has(helmrelease.HookPreInstall, helmrelease.HookPostInstall)
	upgraded := !h.Spec.Upgrade.DisableHooks && has(helmrelease.HookPreUpgrade, helmrelease.HookPostUpgrade)
	deletes := func(policy helmrelease.HookDeletePolicy) bool { // Helm never deletes definitions
		return o.kind != "CustomResourceDefinition" && slices.Contains(o.Policies, policy.String())
	}
	hook = &render.Hook{
		Ran:        tested || installed && (upgraded || !upgrade),
		OnDeletion: !r.NoDeletionHooks && has(helmrelease.HookPreDelete, helmrelease.HookPostDelete),
		Replaced:   deletes(helmrelease.HookBeforeHookCreation),
		Removed:    deletes(helmrelease.HookSucceeded),
		Applied:    h.Spec.Install.ServerSideApply != false,
	}
	events := func(runs bool, of ...helmrelease.HookEvent) (n int) {
		for _, e := range of {
			if runs && has(e) {
				n++
			}
		}
		return n
	}
	action := events(installed, helmrelease.HookPreInstall, helmrelease.HookPostInstall)
	if upgrade {
		hook.Applied = h.Spec.Upgrade.ServerSideApply != "disabled"
		action = events(upgraded, helmrelease.HookPreUpgrade, helmrelease.HookPostUpgrade)
	}
	hook.Repeated = action+events(tested, helmrelease.HookTest) > 1
	hook.RepeatedOnDeletion = events(hook.OnDeletion, helmrelease.HookPreDelete, helmrelease.HookPostDelete) > 1
	if upgrade {
		return hook, tested || upgraded
	}
	return hook, tested || installed
}
