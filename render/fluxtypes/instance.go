package fluxtypes

import (
	"path"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// InstanceKind is the kind of flux-operator's FluxInstances.
var InstanceKind = schema.GroupKind{Group: "fluxcd.controlplane.io", Kind: "FluxInstance"}

// Instance is a FluxInstance of flux-operator, as far as it says what its cluster applies.
type Instance struct {
	Spec struct {
		Sync *struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
			URL  string `json:"url"`
			Ref  string `json:"ref"`
			Path string `json:"path"`
		} `json:"sync"`
	} `json:"spec"`
}

// Dir returns the directory of its source that its cluster applies.
func (i *Instance) Dir() string { return path.Join(".", path.Clean("/" + i.Spec.Sync.Path)[1:]) }
