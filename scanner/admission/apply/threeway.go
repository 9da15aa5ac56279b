package apply

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/preadmit/preadmit/scanner/admission/refusal"
	"github.com/preadmit/preadmit/scanner/admission/size"
)

// Annotated returns a manifest as kubectl apply sends it: with the whole manifest in an annotation
// (k8s.io/kubectl/pkg/util, GetModifiedConfiguration).
func Annotated(content map[string]any) (map[string]any, error) {
	if err := decodes(content); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	u.SetAnnotations(annotations)
	if len(annotations) == 0 {
		_ = unstructured.SetNestedMap(u.Object, map[string]any{}, "metadata", "annotations")
	}
	text, err := runtime.Encode(unstructured.UnstructuredJSONScheme, u)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	annotations[corev1.LastAppliedConfigAnnotation] = string(text)
	u.SetAnnotations(annotations)
	return u.Object, nil
}

// IsAnnotated reports whether a manifest has the annotation that kubectl apply writes.
func IsAnnotated(content map[string]any) bool {
	u := &unstructured.Unstructured{Object: content}
	return u.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != ""
}

// Sent returns a manifest as a tool without server-side apply sends it if there is nothing to merge it with:
// kubectl apply annotates it, and kubectl create and replace update the annotation if it has one
// (k8s.io/kubectl/pkg/util, CreateOrUpdateAnnotation).
func (a Applier) Sent(content map[string]any) (map[string]any, error) {
	switch {
	case a.Merges():
		return Created(content)
	case a.Replaces() && IsAnnotated(content):
		return Annotated(content)
	}
	return content, nil
}

// decodes returns an error for a manifest whose metadata kubectl cannot decode, and so does not send.
func decodes(content map[string]any) error {
	text, err := json.Marshal(map[string]any{"metadata": content["metadata"]})
	if err == nil {
		err = json.Unmarshal(text, new(metav1.PartialObjectMetadata))
	}
	if err != nil {
		return apierrors.NewBadRequest("unable to decode the manifest: " + err.Error())
	}
	return nil
}

// Created returns a manifest as kubectl apply creates it: annotated, without null fields
// (k8s.io/kubectl/pkg/cmd/apply).
func Created(content map[string]any) (map[string]any, error) {
	annotated, err := Annotated(content)
	if err != nil {
		return nil, err
	}
	pruneNulls(annotated)
	return annotated, nil
}

// pruneNulls removes the null fields of maps.
func pruneNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return field == nil })
		for _, field := range v {
			pruneNulls(field)
		}
	case []any:
		for _, item := range v {
			pruneNulls(item)
		}
	}
}

// Merge is a three-way merge of the current object, in the version of the manifest, and the result of
// Annotated.
type Merge struct{ current, modified map[string]any }

// NewMerge returns a Merge.
func NewMerge(current, modified map[string]any) Merge { return Merge{current, modified} }

// texts returns the last applied manifest, the new one and the object.
func (m Merge) texts() (original, modified, current []byte, err error) {
	u := &unstructured.Unstructured{Object: m.current}
	if text, ok := u.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; ok {
		original = []byte(text)
	}
	if modified, err = json.Marshal(m.modified); err == nil {
		current, err = json.Marshal(m.current)
	}
	return original, modified, current, err
}

// Into merges into an empty object of a built-in kind, with the patch that kubectl makes and the
// server applies (k8s.io/apiserver/pkg/endpoints/handlers, strategicPatchObject). unknown are the
// errors about fields that the kind does not have; patched is then the patch as the server's errors
// show it.
func (m Merge) Into(empty runtime.Object) (unknown []error, patched string, err error) {
	original, modified, current, err := m.texts()
	if err != nil {
		return nil, "", fmt.Errorf("encode for a patch: %w", err)
	}
	lookup, err := strategicpatch.NewPatchMetaFromStruct(empty)
	if err != nil {
		return nil, "", fmt.Errorf("describe %T for patches: %w", empty, err)
	}
	text, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, lookup, true)
	if err != nil {
		return nil, "", apierrors.NewBadRequest("creating patch: " + err.Error())
	}
	if err := size.Request(len(text)); err != nil {
		return nil, "", err
	}
	patch := map[string]any{}
	if err := utiljson.Unmarshal(text, &patch); err != nil {
		return nil, "", fmt.Errorf("decode the patch: %w", err)
	}
	merged, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(m.current, patch, lookup)
	if err != nil {
		return nil, "", unmerged(err)
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, empty, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		return strict.Errors(), fmt.Sprintf("%+v", patch), nil
	}
	if err != nil {
		return nil, "", apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), fmt.Sprintf("%+v", patch), err.Error())})
	}
	return nil, "", nil
}

// unmerged returns the refusal of a patch that cannot be applied
// (k8s.io/apiserver/pkg/endpoints/handlers, interpretStrategicMergePatchError).
func unmerged(err error) error {
	switch err {
	case mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat:
		return apierrors.NewBadRequest(err.Error())
	case mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys:
		return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return refusal.Internal(err)
}

// JSON merges a custom resource, and returns its text.
func (m Merge) JSON() ([]byte, error) {
	original, modified, current, err := m.texts()
	if err != nil {
		return nil, fmt.Errorf("encode for a patch: %w", err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
	if err != nil {
		return nil, apierrors.NewBadRequest("creating patch: " + err.Error())
	}
	if err := size.Request(len(patch)); err != nil {
		return nil, err
	}
	return jsonpatch.MergePatch(current, patch)
}
