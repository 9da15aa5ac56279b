package custom

import (
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// Outline returns the spec of a CustomResourceDefinition, given as JSON, with its names and versions but
// without its schemas, which are most of the text. Fields of another type than the API's count as absent.
func Outline(text []byte) map[string]any {
	var crd struct {
		Spec struct {
			Group    any `json:"group"`
			Scope    any `json:"scope"`
			Names    any `json:"names"`
			Versions []struct {
				Name         any `json:"name"`
				Served       any `json:"served"`
				Subresources any `json:"subresources"`
			} `json:"versions"`
		} `json:"spec"`
	}
	_ = sigsjson.UnmarshalCaseSensitivePreserveInts(text, &crd)
	versions := make([]any, 0, len(crd.Spec.Versions))
	for _, v := range crd.Spec.Versions {
		versions = append(versions, map[string]any{"name": v.Name, "served": v.Served, "subresources": v.Subresources})
	}
	return map[string]any{"group": crd.Spec.Group, "scope": crd.Spec.Scope, "names": crd.Spec.Names, "versions": versions}
}

// Defined returns the kind that the spec of a CustomResourceDefinition defines.
func Defined(spec map[string]any) schema.GroupKind {
	group, _ := spec["group"].(string)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	return schema.GroupKind{Group: group, Kind: kind}
}

// Served returns how a version is served, from the spec of a CustomResourceDefinition: cheap, and enough for
// look-ups.
func Served(spec map[string]any, version string) (builtin.Resource, bool) {
	kind := Defined(spec)
	scope, _ := spec["scope"].(string)
	names, _ := spec["names"].(map[string]any)
	plural, _ := names["plural"].(string)
	singular, _ := names["singular"].(string)
	if singular == "" {
		singular = strings.ToLower(kind.Kind)
	}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version || v["served"] != true {
			continue
		}
		r := builtin.Resource{
			GroupVersionResource: schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: plural},
			Kind:                 kind.WithVersion(version),
			Namespaced:           scope == string(apiextensionsv1.NamespaceScoped),
			Custom:               true,
			Subresources:         map[string]schema.GroupVersionKind{},
			Singular:             singular,
			Verbs:                map[string][]string{"": {"create", "delete", "update"}},
		}
		subresources, _ := v["subresources"].(map[string]any)
		if _, ok := subresources["status"]; ok {
			r.Subresources["status"], r.Verbs["status"] = r.Kind, []string{"update"}
		}
		if _, ok := subresources["scale"]; ok {
			r.Subresources["scale"], r.Verbs["scale"] = autoscalingv1.SchemeGroupVersion.WithKind("Scale"), []string{"update"}
		}
		return r, plural != ""
	}
	return builtin.Resource{}, false
}

// AllServed returns the versions that the spec of a CustomResourceDefinition serves.
func AllServed(spec map[string]any) (all []builtin.Resource) {
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		if r, ok := Served(spec, name); ok {
			all = append(all, r)
		}
	}
	return all
}
