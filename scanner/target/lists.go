package target

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// wholeList returns the beginning of a path that leads to the outermost list on it that Argo CD takes
// from the cluster whole: one whose items a strategic merge does not merge by a key, as none of a
// custom resource are (controller/sync.go, normalizeTargetResources). It is false where there is none.
func wholeList(kind schema.GroupVersionKind, path []string, objects ...map[string]any) ([]string, bool) {
	for _, o := range objects {
		if n := stepsToList(merging(kind), o, path); n < len(path) {
			return path[:n], true
		}
	}
	return path, false
}

// merging describes how objects of a kind are merged, nil for kinds that have no strategic merge.
func merging(kind schema.GroupVersionKind) strategicpatch.LookupPatchMeta {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(object)
	if err != nil {
		return nil
	}
	return meta
}

// stepsToList is the number of steps of a path to the first list that is taken whole, or of all steps.
func stepsToList(meta strategicpatch.LookupPatchMeta, value any, path []string) int {
	for i, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
			meta = mergingBelow(meta, step, value)
		case []any:
			if meta == nil {
				return i
			}
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(v) {
				return len(path)
			}
			value = v[n]
		default:
			return len(path)
		}
	}
	return len(path)
}

// mergingBelow describes how the value of a field is merged: a mapping field by field, a list by a key of its
// items. It is nil for a value that is replaced whole.
func mergingBelow(meta strategicpatch.LookupPatchMeta, field string, value any) strategicpatch.LookupPatchMeta {
	if meta == nil {
		return nil
	}
	switch value.(type) {
	case map[string]any:
		if inner, patch, err := meta.LookupPatchMetadataForStruct(field); err == nil && !slices.Contains(patch.GetPatchStrategies(), "replace") {
			return inner
		}
	case []any:
		if inner, patch, err := meta.LookupPatchMetadataForSlice(field); err == nil && patch.GetPatchMergeKey() != "" && slices.Contains(patch.GetPatchStrategies(), "merge") {
			return inner
		}
	}
	return nil
}
