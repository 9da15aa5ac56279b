package fluxtypes

import (
	"cmp"
	"path"

	"github.com/preadmit/preadmit/render"
)

// SourceGroup is the API group of sources.
const SourceGroup = "source.toolkit.fluxcd.io"

// ChartSpec is the `spec` of a HelmChart, which is also part of a HelmRelease.
type ChartSpec struct {
	Chart                    string    `json:"chart"`
	Version                  string    `json:"version"`
	SourceRef                SourceRef `json:"sourceRef"`
	ValuesFiles              []string  `json:"valuesFiles"`
	ValuesFile               string    `json:"valuesFile"`
	IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
	ReconcileStrategy        string    `json:"reconcileStrategy"`
}

// VersionPart returns a description of what source-controller adds to the version of the chart as build metadata, so
// that changes are noticed; empty for nothing (fluxcd/source-controller, buildFromTarballArtifact,
// buildFromHelmRepository).
func (s ChartSpec) VersionPart() string {
	switch {
	case s.ReconcileStrategy == "Revision" && (s.SourceRef.Kind == "GitRepository" || s.SourceRef.Kind == "Bucket"):
		return "the revision of its source to the version of the chart (reconcileStrategy: Revision)"
	case len(s.ValuesFiles) > 1 || len(s.ValuesFiles) == 1 && path.Clean(s.ValuesFiles[0]) != "values.yaml":
		return "the generation of the HelmChart to the version of a chart with valuesFiles"
	}
	return ""
}

// SourceRef refers to a source.
type SourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// In returns the referenced object. namespace is the namespace of the object with the reference.
func (r SourceRef) In(namespace string) render.ObjectRef {
	return render.ObjectRef{Group: SourceGroup, Kind: r.Kind, Namespace: cmp.Or(r.Namespace, namespace, "default"), Name: r.Name}
}

// ReleaseAction configures an action of a HelmRelease: its handling of hooks and of definitions in crds/ of a chart.
type ReleaseAction struct {
	DisableHooks bool   `json:"disableHooks"`
	CRDs         string `json:"crds"`
	SkipCRDs     bool   `json:"skipCRDs"`
	// CreateNamespace is a field of install only.
	CreateNamespace bool `json:"createNamespace"`
}

// ValuesFrom is a reference of a HelmRelease to values in a ConfigMap or Secret of the namespace.
type ValuesFrom struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey"`
	TargetPath string `json:"targetPath"`
	Optional   bool   `json:"optional"`
	Literal    bool   `json:"literal"`
}

// Key returns the key that holds the values.
func (v ValuesFrom) Key() string {
	if v.ValuesKey == "" {
		return "values.yaml"
	}
	return v.ValuesKey
}
