package resourceset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/tree"
)

const (
	// ownerGroup is the prefix of flux-operator's owner labels.
	ownerGroup = "resourceset." + Group

	copyFrom      = Group + "/copyFrom"
	convertFrom   = Group + "/convertKubeConfigFrom"
	checksumFrom  = Group + "/checksumFrom"
	checksumField = Group + "/checksum"
)

// finish returns an object in the form in which flux-operator applies it.
func (s *Set) finish(o built, index int) (*render.Object, error) {
	s.metadata().SetOn(o.content, nil)
	unknown, err := fromCluster(o.content)
	if err != nil {
		return nil, &templateError{field: o.field, err: err}
	}
	unknown = append(unknown, checksums(o.content, nil)...)
	return &render.Object{JSON: tree.Encode(o.content), Index: index, Unknown: unknown}, nil
}

// metadata returns the labels and annotations that flux-operator sets.
func (s *Set) metadata() flux.Metadata {
	m := flux.Metadata{OwnerGroup: ownerGroup, Name: s.Metadata.Name, Namespace: s.Metadata.Namespace}
	if common := s.Spec.CommonMetadata; common != nil {
		m.Labels, m.Annotations = common.Labels, common.Annotations
	}
	return m
}

// fromCluster returns the fields that are copied from other objects in the cluster.
func fromCluster(content map[string]any) ([]render.Unknown, error) {
	if kind := content["kind"]; content["apiVersion"] != "v1" || kind != "ConfigMap" && kind != "Secret" {
		return nil, nil
	}
	annotations := annotationsOf(content)
	var unknown []render.Unknown
	from, copies := annotations[copyFrom]
	if copies {
		fields, err := copied(content, from)
		if err != nil {
			return nil, err
		}
		for _, field := range fields {
			unknown = append(unknown, render.Unknown{Path: []string{field}, Reason: "it is copied from " + from + " in the cluster"})
		}
	}
	if from, ok := annotations[convertFrom]; ok && content["kind"] == "ConfigMap" {
		source, _, _ := strings.Cut(from, ":")
		if strings.Count(source, "/") != 1 {
			return nil, fmt.Errorf("invalid %s annotation value '%s' must be in the format 'namespace/name' or 'namespace/name:key'", convertFrom, from)
		}
		data := mapping(content, "data")
		for _, key := range []string{"address", "ca.crt"} {
			if _, ok := data[key]; !ok && !copies {
				data[key] = ""
				unknown = append(unknown, render.Unknown{Path: []string{"data", key}, Reason: "it is taken from the kubeconfig in " + source + " in the cluster"})
			}
		}
	}
	return unknown, nil
}

// copied returns the fields that are copied from another ConfigMap or Secret: data, and binaryData of a ConfigMap. For
// a Secret, the copy removes stringData, and includes the type if the object has none.
func copied(content map[string]any, from string) ([]string, error) {
	if strings.Count(from, "/") != 1 {
		return nil, fmt.Errorf("invalid %s annotation value '%s' must be in the format 'namespace/name'", copyFrom, from)
	}
	mapping(content, "data")
	if content["kind"] == "ConfigMap" {
		mapping(content, "binaryData")
		return []string{"data", "binaryData"}, nil
	}
	delete(content, "stringData") // the data of the source replaces it
	switch given, ok := content["type"]; given.(type) {
	case string:
		return []string{"data"}, nil
	default:
		if ok {
			return nil, fmt.Errorf("type field of Secret/%s is not a string", from)
		}
	}
	content["type"] = "${" + from + "}" // distinguishes the types of different sources
	return []string{"data", "type"}, nil
}

// mapping returns a field of an object that is a mapping, and creates it if needed.
func mapping(content map[string]any, field string) map[string]any {
	m, ok := content[field].(map[string]any)
	if !ok {
		m = map[string]any{}
		content[field] = m
	}
	return m
}

// annotationsOf returns the annotations of an object as flux-operator reads them: none if a value is not a string.
func annotationsOf(content map[string]any) map[string]string {
	return (&unstructured.Unstructured{Object: content}).GetAnnotations()
}

// checksums returns the annotations that flux-operator sets to the checksum of other objects.
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
