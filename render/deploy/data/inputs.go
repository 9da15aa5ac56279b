package data

import (
	"encoding/json"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
)

// InputsOf returns the inputs of a static provider. For other providers, why is the reason why they are not known.
func InputsOf(o *render.Object, root render.RootID, ref render.ObjectRef) (in render.Input, why string) {
	var provider struct {
		Spec struct {
			Type          string          `json:"type"`
			DefaultValues json.RawMessage `json:"defaultValues"`
		} `json:"spec"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &provider); err != nil {
		return in, fmt.Sprintf("%s is not valid: %v", ref, err)
	}
	if provider.Spec.Type != "Static" {
		return in, fmt.Sprintf("its inputs come from outside the repository: %s is of type %s", ref, provider.Spec.Type)
	}
	for _, unknown := range o.Unknown {
		if len(unknown.Path) == 0 || unknown.Path[0] == "spec" {
			return in, fmt.Sprintf("the field %s of %s is not known: %s", unknown.Field(), ref, unknown.Reason)
		}
	}
	values := provider.Spec.DefaultValues
	if len(values) == 0 {
		values = json.RawMessage("{}")
	}
	return render.Input{Provider: ref, Values: values, Written: render.FieldRef{Root: root, Index: o.Index, Path: "spec.defaultValues"}}, ""
}
