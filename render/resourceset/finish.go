package resourceset

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
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
	s.metadata().SetOn(o.content, nil)
	unknown := fromCluster(o.content)
	unknown = append(unknown, checksums(o.content, nil)...)
	return &render.Object{JSON: tree.Encode(o.content), Index: index, Unknown: unknown}
}

// metadata are the labels and annotations that flux-operator sets.
func (s *Set) metadata() flux.Metadata {
	m := flux.Metadata{OwnerGroup: ownerGroup, Name: s.Metadata.Name, Namespace: s.Metadata.Namespace}
	if common := s.Spec.CommonMetadata; common != nil {
		m.Labels, m.Annotations = common.Labels, common.Annotations
	}
	return m
}

// fromCluster are the fields that are copied from another object in the cluster.
func fromCluster(content map[string]any) []render.Unknown {
	annotations := annotationsOf(content)
	for _, name := range []string{copyFrom, convertFrom} {
		from := annotations[name]
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

// annotationsOf are the annotations of an object as flux-operator reads them: none where a value is no string.
func annotationsOf(content map[string]any) map[string]string {
	return (&unstructured.Unstructured{Object: content}).GetAnnotations()
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
