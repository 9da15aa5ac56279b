package flux

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// Metadata are the labels and annotations that a controller of Flux sets on the objects it applies.
type Metadata struct {
	// OwnerGroup is the prefix of the owner labels, which have the name and the namespace of the owner.
	OwnerGroup, Name, Namespace string
	// Labels and Annotations are the fields of spec.commonMetadata.
	Labels, Annotations map[string]string
}

// SetOn sets the metadata on an object, and returns its remaining unknown fields. It uses the same methods as
// github.com/fluxcd/pkg/ssa (SetOwnerLabels, SetCommonMetadata): if the value of a label is not a string, the other
// labels are lost, and likewise annotations if common ones are set. A null value becomes an empty string.
func (m Metadata) SetOn(content map[string]any, unknown []render.Unknown) []render.Unknown {
	o := &unstructured.Unstructured{Object: content}
	labels := merged(o.GetLabels(), map[string]string{m.OwnerGroup + "/name": m.Name, m.OwnerGroup + "/namespace": m.Namespace})
	o.SetLabels(merged(labels, m.Labels))
	if annotations := merged(o.GetAnnotations(), m.Annotations); len(annotations) > 0 && len(m.Labels)+len(m.Annotations) > 0 {
		o.SetAnnotations(annotations)
	}
	return slices.DeleteFunc(slices.Clone(unknown), func(field render.Unknown) bool { return isLost(content, field.Path) })
}

// merged returns values with the entries of set added.
func merged(values, set map[string]string) map[string]string {
	if values == nil {
		values = map[string]string{}
	}
	maps.Copy(values, set)
	return values
}

// isLost reports whether a path is that of a label or annotation that an object no longer has.
func isLost(content map[string]any, path []string) bool {
	if len(path) != 3 || path[0] != "metadata" || path[1] != "labels" && path[1] != "annotations" {
		return false
	}
	_, found, err := unstructured.NestedFieldNoCopy(content, path...)
	return !found || err != nil
}

// LostBy returns the field because of which SetOn loses another one; ok is false for a field that is not lost.
func (m Metadata) LostBy(content map[string]any, field string) (by string, ok bool) {
	list, key := metadataKey(field)
	if list == "" || list == "annotations" && len(m.Annotations) == 0 {
		return "", false
	}
	metadata, _ := content["metadata"].(map[string]any)
	values, _ := metadata[list].(map[string]any)
	if _, had := values[key]; !had {
		return "", false
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, isText := values[name].(string); !isText && values[name] != nil {
			return origin.AppendKey("metadata."+list, name), true
		}
	}
	return "", false
}

// metadataKey returns whether a field is in labels or annotations, and its key; empty for other fields.
func metadataKey(field string) (list, key string) {
	steps := origin.ParsePath(field)
	if len(steps) < 3 || steps[0].Key != "metadata" || steps[1].Key != "labels" && steps[1].Key != "annotations" {
		return "", ""
	}
	var keys []string
	for _, s := range steps[2:] {
		keys = append(keys, s.Key)
	}
	return steps[1].Key, strings.Join(keys, ".")
}
