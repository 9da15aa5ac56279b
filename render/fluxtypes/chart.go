package fluxtypes

import (
	"cmp"

	"github.com/preadmit/preadmit/render"
)

// SourceGroup is the API group of sources.
const SourceGroup = "source.toolkit.fluxcd.io"

// ChartSpec is the `spec` of a HelmChart, which a HelmRelease has too.
type ChartSpec struct {
	Chart                    string    `json:"chart"`
	Version                  string    `json:"version"`
	SourceRef                SourceRef `json:"sourceRef"`
	ValuesFiles              []string  `json:"valuesFiles"`
	ValuesFile               string    `json:"valuesFile"`
	IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
}

// SourceRef names a source.
type SourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// In returns the object that is referred to from a namespace.
func (r SourceRef) In(namespace string) render.ObjectRef {
	return render.ObjectRef{Group: SourceGroup, Kind: r.Kind, Namespace: cmp.Or(r.Namespace, namespace, "default"), Name: r.Name}
}

// ReleaseAction is what an action of a HelmRelease does with definitions in crds/ of a chart, and hooks.
type ReleaseAction struct {
	DisableHooks bool   `json:"disableHooks"`
	CRDs         string `json:"crds"`
	SkipCRDs     bool   `json:"skipCRDs"`
	// CreateNamespace is that of an install.
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

// Key is the key that holds the values.
func (v ValuesFrom) Key() string {
	if v.ValuesKey == "" {
		return "values.yaml"
	}
	return v.ValuesKey
}
