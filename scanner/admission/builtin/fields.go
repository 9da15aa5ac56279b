package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// FieldsOf returns the field manager of a built-in kind (k8s.io/apiserver/pkg/endpoints,
// registerResourceHandlers).
func FieldsOf(kind schema.GroupVersionKind, s Strategies) (*apply.Fields, error) {
	scheme := CodecOf(kind.Group).Scheme
	types, err := Types(kind.Group)
	if err != nil {
		return nil, err
	}
	hub := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	m := apply.Model{Kind: kind, Hub: hub, Types: types, Convertor: runtime.UnsafeObjectConvertor(scheme), Defaulter: scheme, Reset: ResetFields(s)}
	manager, err := managedfields.NewDefaultFieldManager(m.Types, m.Convertor, m.Defaulter, scheme, kind, hub, "", m.Reset)
	if err != nil {
		return nil, fmt.Errorf("manage the fields of %s: %w", kind.Kind, err)
	}
	return &apply.Fields{FieldManager: manager, Model: m, Create: func() (runtime.Object, error) { return scheme.New(kind) }}, nil
}

// ResetFields returns the fields that a strategy resets, which have no manager.
func ResetFields(s Strategies) map[fieldpath.APIVersion]fieldpath.Filter {
	if r, ok := s.Update.(rest.ResetFieldsStrategy); ok {
		return fieldpath.NewExcludeFilterSetMap(r.GetResetFields())
	}
	return nil
}
