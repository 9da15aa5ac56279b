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
}
