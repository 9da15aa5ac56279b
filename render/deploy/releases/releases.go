// Package releases has the fields of a Flux HelmRelease that decide which chart is installed with which values.
package releases

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/scope"
)

// Kind is the kind of HelmReleases.
var Kind = schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}

// HelmRelease has the fields of a HelmRelease that decide which chart is installed, with which values, and how. Other
// fields are read when it is rendered.
type HelmRelease struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Chart *struct {
			Spec fluxtypes.ChartSpec `json:"spec"`
		} `json:"chart"`
		ChartRef           *fluxtypes.SourceRef    `json:"chartRef"`
		TargetNamespace    string                  `json:"targetNamespace"`
		Suspend            bool                    `json:"suspend"`
		ServiceAccountName string                  `json:"serviceAccountName"`
		KubeConfig         *flux.KubeConfig        `json:"kubeConfig"`
		Install            fluxtypes.ReleaseAction `json:"install"`
		Upgrade            fluxtypes.ReleaseAction `json:"upgrade"`
		Uninstall          fluxtypes.ReleaseAction `json:"uninstall"`
		ValuesFrom         []fluxtypes.ValuesFrom  `json:"valuesFrom"`
	} `json:"spec"`
}

// Namespace returns the namespace of the HelmRelease.
func (h *HelmRelease) Namespace() string { return cmp.Or(h.Metadata.Namespace, "default") }

// CreatesNamespace reports whether Helm creates the Namespace of the release when it installs the release and the
// Namespace does not exist (helm-controller, newInstall). The namespace of the HelmRelease itself exists.
func (h *HelmRelease) CreatesNamespace() bool {
	name := h.Spec.TargetNamespace
	there := h.Spec.KubeConfig == nil && name == h.Namespace() || scope.IsInitial(name)
	return h.Spec.Install.CreateNamespace && name != "" && !there
}

// Controller is the user of HelmReleases that name no service account.
const Controller = "system:serviceaccount:flux-system:helm-controller"

// Apply returns how helm-controller applies a release: objects that are no longer rendered are deleted, and all objects
// when the HelmRelease is deleted.
func (h *HelmRelease) Apply() render.Apply {
	a := render.Apply{Suspended: h.Spec.Suspend, Prune: true, DeletionPolicy: "Delete", User: Controller}
	if h.Spec.ServiceAccountName != "" {
		a.User = "system:serviceaccount:" + h.Namespace() + ":" + h.Spec.ServiceAccountName
	}
	return a
}
