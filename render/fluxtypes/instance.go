package fluxtypes

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"

	kjson "sigs.k8s.io/json"
)

// InstanceKind is the kind of flux-operator's FluxInstances.
var InstanceKind = schema.GroupKind{Group: "fluxcd.controlplane.io", Kind: "FluxInstance"}

// instanceChart is flux-operator's chart of one FluxInstance, whose spec is the value `instance`.
const instanceChart = "flux-instance"

// Instance is a FluxInstance of flux-operator, as far as it says what its cluster applies.
type Instance struct {
	Spec instanceSpec `json:"spec"`
	// Field is the one of the object that has the spec.
	Field string `json:"-"`
}

type instanceSpec struct {
	Sync *struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		URL  string `json:"url"`
		Ref  string `json:"ref"`
		Path string `json:"path"`
	} `json:"sync"`
	Kustomize struct {
		Patches []Patch `json:"patches"`
	} `json:"kustomize"`
}

// InstancePatch is a patch of what flux-operator installs, and the field of the FluxInstance that has it
// applied.
type InstancePatch struct {
	Patch
	Field string
}

// Patches are those of what flux-operator installs, in order.
func (i *Instance) Patches() (all []InstancePatch) {
	for n, p := range i.Spec.Kustomize.Patches {
		all = append(all, InstancePatch{p, fmt.Sprintf("%s.kustomize.patches[%d].patch", i.Field, n)})
	}
	return all
}

// Without returns the instance without the patches that a path leads to or into, and their field. It is nil
// when the path leads elsewhere.
func (i *Instance) Without(path []string) (without *Instance, field string) {
	list := append(strings.Split(i.Field, "."), "kustomize", "patches")
	for n := range min(len(list), len(path)) {
		if list[n] != path[n] {
			return nil, ""
		}
	}
	without, field = &Instance{i.Spec, i.Field}, i.Field+".kustomize.patches"
	without.Spec.Kustomize.Patches = nil
	for n, p := range i.Spec.Kustomize.Patches {
		switch {
		case len(path) <= len(list):
		case path[len(list)] == strconv.Itoa(n):
			field = fmt.Sprintf("%s[%d]", field, n)
		default:
			without.Spec.Kustomize.Patches = append(without.Spec.Kustomize.Patches, p)
		}
	}
	return without, field
}

// Source is the source that flux-operator makes for a FluxInstance, by its name. It has no reference
// where that is a variable.
func (i *Instance) Source(ref render.ObjectRef) json.RawMessage {
	sync := i.Spec.Sync
	spec := map[string]any{}
	if sync.URL != "" {
		spec[map[bool]string{true: "endpoint", false: "url"}[ref.Kind == "Bucket"]] = sync.URL
	}
	if sync.Ref != "" && !strings.Contains(sync.Ref, "${") {
		switch ref.Kind {
		case "GitRepository":
			spec["ref"] = map[string]any{"name": sync.Ref}
		case "OCIRepository":
			spec["ref"] = map[string]any{"tag": sync.Ref}
		case "Bucket":
			spec["bucketName"] = sync.Ref
		}
	}
	object, _ := json.Marshal(map[string]any{ // strings
		"apiVersion": SourceGroup + "/v1", "kind": ref.Kind,
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace}, "spec": spec,
	})
	return object
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
	instance := &Instance{read.Spec.instanceSpec, "spec"}
	// The chart of a chartRef has no name here; its values do.
	if chart := read.Spec.Chart.Spec.Chart; instance.Spec.Sync == nil && (chart == "" || chart == instanceChart) {
		instance = &Instance{read.Spec.Values.Instance, "spec.values.instance"}
	}
	if instance.Spec.Sync == nil {
		return nil
	}
	return instance
}

// Dir returns the directory of its source that its cluster applies.
func (i *Instance) Dir() string { return path.Join(".", path.Clean("/" + i.Spec.Sync.Path)[1:]) }
