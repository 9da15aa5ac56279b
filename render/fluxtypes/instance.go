package fluxtypes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"

	kjson "sigs.k8s.io/json"
)

// InstanceKind is the kind of flux-operator's FluxInstances.
var InstanceKind = schema.GroupKind{Group: "fluxcd.controlplane.io", Kind: "FluxInstance"}

// instanceChart is flux-operator's chart for a FluxInstance, whose spec is the value `instance`.
const instanceChart = "flux-instance"

// Instance has the fields of a FluxInstance that influence what its cluster applies.
type Instance struct {
	Spec instanceSpec `json:"spec"`
	// Field is the path of the spec in the object.
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
	Cluster struct {
		Multitenant   bool   `json:"multitenant"`
		TenantAccount string `json:"tenantDefaultServiceAccount"`
	} `json:"cluster"`
	Kustomize struct {
		Patches []Patch `json:"patches"`
	} `json:"kustomize"`
}

// InstancePatch is a patch for the objects that flux-operator installs. Field is the field of the FluxInstance that
// adds it.
type InstancePatch struct {
	Patch
	Field string
}

// Patches returns the patches for the objects that flux-operator installs, in order: those of the multitenancy profile
// that influence who applies objects, and the instance's own (flux-operator, internal/builder/profiles.go).
func (i *Instance) Patches() (all []InstancePatch) {
	if c := i.Spec.Cluster; c.Multitenant {
		field := i.Field + ".cluster.multitenant"
		add := func(kind, name, at, value string) {
			text, _ := json.Marshal([]map[string]string{{"op": "add", "path": at, "value": value}}) // strings
			all = append(all, InstancePatch{Patch{string(text), &Selector{Kind: kind, Name: name}}, field})
		}
		add("Deployment", "(kustomize-controller|helm-controller)", "/spec/template/spec/containers/0/args/-", AccountFlag+"="+cmp.Or(c.TenantAccount, "default"))
		add("Kustomization", "", "/spec/serviceAccountName", "kustomize-controller")
	}
	for n, p := range i.Spec.Kustomize.Patches {
		all = append(all, InstancePatch{p, fmt.Sprintf("%s.kustomize.patches[%d].patch", i.Field, n)})
	}
	return all
}

// Without returns the instance without the part at a path, or containing it, that influences Patches, and the field of
// that part. It is nil if the path has no influence.
func (i *Instance) Without(path []string) (without *Instance, field string) {
	without, field = &Instance{i.Spec, i.Field}, i.Field
	of := func(names ...string) bool {
		list := append(strings.Split(i.Field, "."), names...)
		n := min(len(list), len(path))
		return slices.Equal(list[:n], path[:n])
	}
	changed := false
	if of("cluster", "multitenant") || of("cluster", "tenantDefaultServiceAccount") {
		without.Spec.Cluster.Multitenant, changed = false, true
	}
	without.Spec.Kustomize.Patches = nil
	for n, p := range i.Spec.Kustomize.Patches {
		if !of("kustomize", "patches", strconv.Itoa(n)) {
			without.Spec.Kustomize.Patches = append(without.Spec.Kustomize.Patches, p)
			continue
		}
		changed = true
		if len(path) > len(strings.Split(i.Field, "."))+2 {
			field = fmt.Sprintf("%s.kustomize.patches[%d]", i.Field, n)
		}
	}
	if !changed {
		return nil, ""
	}
	return without, field
}

// SourceRef returns the reference to the source that flux-operator creates for an instance with Sync, which is in a
// namespace.
func (i *Instance) SourceRef(namespace string) render.ObjectRef {
	return render.ObjectRef{Group: SourceGroup, Kind: cmp.Or(i.Spec.Sync.Kind, "GitRepository"), Namespace: namespace, Name: cmp.Or(i.Spec.Sync.Name, namespace)}
}

// Source returns the source that flux-operator creates for an instance with Sync. It has no reference to a revision if
// that is a variable.
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

// ReadInstance decodes a FluxInstance, or the values of a HelmRelease of its chart. It returns nil for other objects.
func ReadInstance(object []byte) *Instance {
	read := struct {
		Kind string `json:"kind"`
		Spec struct {
			instanceSpec
			Chart struct {
				Spec struct {
					Chart string `json:"chart"`
				} `json:"spec"`
			} `json:"chart"`
			Values struct {
				Instance *instanceSpec `json:"instance"`
			} `json:"values"`
		} `json:"spec"`
	}{}
	if kjson.UnmarshalCaseSensitivePreserveInts(object, &read) != nil {
		return nil
	}
	// With a chartRef, the name of the chart is not known here, so the values decide.
	switch chart := read.Spec.Chart.Spec.Chart; {
	case read.Kind == InstanceKind.Kind:
		return &Instance{read.Spec.instanceSpec, "spec"}
	case read.Spec.Values.Instance != nil && (chart == "" || chart == instanceChart):
		return &Instance{*read.Spec.Values.Instance, "spec.values.instance"}
	}
	return nil
}

// Dir returns the directory of the source that an instance with Sync applies.
func (i *Instance) Dir() string { return path.Join(".", path.Clean("/" + i.Spec.Sync.Path)[1:]) }
