package resourceset

import (
	"maps"
	"slices"
	"strconv"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

const (
	// ownerGroup is that of the labels by which flux-operator knows its objects.
	ownerGroup = "resourceset." + Group

	copyFrom      = Group + "/copyFrom"
	convertFrom   = Group + "/convertKubeConfigFrom"
	checksumFrom  = Group + "/checksumFrom"
	checksumField = Group + "/checksum"
)

// finish makes of an object what flux-operator applies.
func (s *Set) finish(o built, index int) *render.Object {
	metadata := o.content["metadata"].(map[string]any) // it has a name
	set(metadata, "labels", map[string]string{ownerGroup + "/name": s.Metadata.Name, ownerGroup + "/namespace": s.Metadata.Namespace})
	if common := s.Spec.CommonMetadata; common != nil {
		set(metadata, "labels", common.Labels)
		set(metadata, "annotations", common.Annotations)
	}
	unknown := fromCluster(o.content, metadata)
	unknown = append(unknown, checksums(o.content, nil)...)
	return &render.Object{JSON: tree.Encode(o.content), Index: index, Unknown: unknown}
}

// set sets keys of a mapping in another one.
func set(metadata map[string]any, field string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	into, _ := metadata[field].(map[string]any)
	if into == nil {
		into = map[string]any{}
		metadata[field] = into
	}
	for key, value := range values {
		into[key] = value
	}
}

// fromCluster are the fields that are copied from another object in the cluster.
func fromCluster(content, metadata map[string]any) []render.Unknown {
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, name := range []string{copyFrom, convertFrom} {
		from, _ := annotations[name].(string)
		if kind := content["kind"]; from == "" || kind != "ConfigMap" && kind != "Secret" {
			continue
		}
		if _, ok := content["data"].(map[string]any); !ok {
			content["data"] = map[string]any{}
		}
		return []render.Unknown{{Path: []string{"data"}, Reason: "it is copied from " + from + " in the cluster"}}
	}
	return nil
}

// checksums are the annotations that flux-operator sets to the checksum of other objects.
func checksums(value any, path []string) (unknown []render.Unknown) {
	switch v := value.(type) {
	case map[string]any:
		if annotations, _ := v["annotations"].(map[string]any); annotations[checksumFrom] != nil {
			annotations[checksumField] = "sha256:"
			at := append(append([]string{}, path...), "annotations", checksumField)
			unknown = append(unknown, render.Unknown{Path: at, Reason: "it is the checksum of other objects in the cluster"})
		}
		for _, key := range sortedKeys(v) {
			unknown = append(unknown, checksums(v[key], append(append([]string{}, path...), key))...)
		}
	case []any:
		for i, item := range v {
			unknown = append(unknown, checksums(item, append(append([]string{}, path...), strconv.Itoa(i)))...)
		}
	}
	return unknown
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
