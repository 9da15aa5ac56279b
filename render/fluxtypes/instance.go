package fluxtypes

import (
	"path"

	"k8s.io/apimachinery/pkg/runtime/schema"

	kjson "sigs.k8s.io/json"
)

// InstanceKind is the kind of flux-operator's FluxInstances.
var InstanceKind = schema.GroupKind{Group: "fluxcd.controlplane.io", Kind: "FluxInstance"}

// instanceChart is flux-operator's chart of one FluxInstance, whose spec is the value `instance`.
const instanceChart = "flux-instance"

// Instance is a FluxInstance of flux-operator, as far as it says what its cluster applies.
type Instance struct {
	Spec instanceSpec `json:"spec"`
}

type instanceSpec struct {
	Sync *struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		URL  string `json:"url"`
		Ref  string `json:"ref"`
		Path string `json:"path"`
	} `json:"sync"`
}

// ReadInstance reads a FluxInstance, or the values of a HelmRelease of the chart that makes one. It
// returns nil where the cluster of the object applies nothing.
func ReadInstance(object []byte) *Instance {
	read := struct {
		Spec struct {
			instanceSpec
			Chart struct {
				Spec struct {
					Chart string `json:"chart"`
				} `json:"spec"`
			} `json:"chart"`
			Values struct {
				Instance instanceSpec `json:"instance"`
			} `json:"values"`
		} `json:"spec"`
	}{}
	if kjson.UnmarshalCaseSensitivePreserveInts(object, &read) != nil {
		return nil
	}
	instance := &Instance{read.Spec.instanceSpec}
	// The chart of a chartRef has no name here; its values do.
	if chart := read.Spec.Chart.Spec.Chart; instance.Spec.Sync == nil && (chart == "" || chart == instanceChart) {
		instance.Spec = read.Spec.Values.Instance
	}
	if instance.Spec.Sync == nil {
		return nil
	}
	return instance
}

// Dir returns the directory of its source that its cluster applies.
func (i *Instance) Dir() string { return path.Join(".", path.Clean("/" + i.Spec.Sync.Path)[1:]) }
