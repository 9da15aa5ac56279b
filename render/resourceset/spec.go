package resourceset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
)

// Group is the API group of flux-operator, Kind the kind of ResourceSets.
const (
	Group = "fluxcd.controlplane.io"
	Kind  = "ResourceSet"
)

// Set has the fields of a ResourceSet that influence what is applied.
type Set struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Inputs        []map[string]any `json:"inputs"`
		InputsFrom    []InputsFrom     `json:"inputsFrom"`
		InputStrategy *struct {
			Name string `json:"name"`
		} `json:"inputStrategy"`
		part
		Steps          []part `json:"steps"`
		CommonMetadata *struct {
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"commonMetadata"`
		ServiceAccountName string `json:"serviceAccountName"`
	} `json:"spec"`
}

// InputsFrom refers to objects that provide inputs.
type InputsFrom struct {
	Kind     string          `json:"kind"`
	Name     string          `json:"name"`
	Selector json.RawMessage `json:"selector"`
}

// part has templates of objects: those of the set, or of one of its steps.
type part struct {
	Name      string            `json:"name"`
	Resources []json.RawMessage `json:"resources"`
	Template  string            `json:"resourcesTemplate"`
}

// Parse reads a ResourceSet. As in flux-operator, whole numbers of inputs are integers.
func Parse(object json.RawMessage) (*Set, error) {
	s := &Set{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, s); err != nil {
		return nil, fmt.Errorf("not a ResourceSet of flux-operator: %w", err)
	}
	if s.Spec.InputStrategy != nil && s.Spec.InputStrategy.Name != "Flatten" && s.Spec.InputStrategy.Name != "" {
		return nil, fmt.Errorf("spec.inputStrategy.name %q is not supported, only Flatten is", s.Spec.InputStrategy.Name)
	}
	if len(s.Spec.Steps) > 0 && (len(s.Spec.Resources) > 0 || s.Spec.Template != "") {
		return nil, errors.New("spec.steps is mutually exclusive with spec.resources and spec.resourcesTemplate")
	}
	return s, nil
}

// operator is the user of ResourceSets that name no service account.
const operator = "system:serviceaccount:flux-system:flux-operator"

// Apply returns how flux-operator applies the objects: objects that are no longer rendered are deleted, and all objects
// when the ResourceSet is deleted.
func (s *Set) Apply() render.Apply {
	annotated := func(key, value string) bool { return strings.ToLower(s.Metadata.Annotations[Group+"/"+key]) == value }
	a := render.Apply{Suspended: annotated("reconcile", "disabled"), Force: annotated("force", "enabled"), Prune: true, DeletionPolicy: "Delete", User: operator}
	if name := s.Spec.ServiceAccountName; name != "" {
		a.User = "system:serviceaccount:" + s.Metadata.Namespace + ":" + name
	}
	return a
}

// input is a set of inputs with the place of its values.
type input struct {
	values map[string]any
	from   render.FieldRef
	// field is the field of the ResourceSet with the values, if they are in the ResourceSet.
	field string
}

// inputs returns the sets of inputs in flux-operator's order: those of the ResourceSet, then those of providers.
func (s *Set) inputs(given []render.Input) ([]input, error) {
	var all []input
	provider := func(kind, name string) map[string]any {
		return map[string]any{"apiVersion": Group + "/v1", "kind": kind, "name": name, "namespace": s.Metadata.Namespace}
	}
	for i, values := range s.Spec.Inputs {
		if values == nil {
			values = map[string]any{}
		}
		values["provider"] = provider(Kind, s.Metadata.Name)
		all = append(all, input{values: values, field: fmt.Sprintf("spec.inputs[%d]", i)})
	}
	for _, in := range given {
		values := map[string]any{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(in.Values, &values); err != nil {
			return nil, fmt.Errorf("the inputs of %s are not valid: %w", in.Provider, err)
		}
		values["provider"] = provider(in.Provider.Kind, in.Provider.Name)
		delete(values, "id") // it is derived from the uid
		all = append(all, input{values: values, from: in.Written})
	}
	return all, nil
}
