package target

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// wholeList returns the beginning of a path, up to the outermost list that Argo CD takes from the cluster as
// a whole: one whose items a strategic merge does not merge by a key, as for all lists of custom resources
// (controller/sync.go, normalizeTargetResources). It returns false if there is no such list.
func wholeList(kind schema.GroupVersionKind, path []string, objects ...map[string]any) ([]string, bool) {
	for _, o := range objects {
		if n := stepsToList(merging(kind), o, path); n < len(path) {
			return path[:n], true
		}
	}
	return path, false
}

// merging returns the merge rules of a kind, nil for kinds without a strategic merge.
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

// stepsToList returns the number of steps of a path to the first list that is taken as a whole, or of all
// steps.
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

// mergingBelow returns the merge rules of the value of a field: a mapping is merged field by field, a list by
// a key of its items. It returns nil for a value that is replaced as a whole.
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
