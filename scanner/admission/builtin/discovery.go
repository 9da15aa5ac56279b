package builtin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"github.com/preadmit/preadmit/scanner/admission/emulation"
)

// KubernetesVersion returns the release whose API server the process imitates.
func KubernetesVersion() string { return emulation.Version() }

// discoveryJSON lists the resources that a kube-apiserver of release.Latest can serve, from its
// aggregated discovery (/api and /apis, apidiscovery.k8s.io/v2) with --runtime-config=api/all=true
// and all feature gates that APIs have.
//
//go:embed discovery.json
var discoveryJSON []byte

// Resource is a kind that the API server serves.
type Resource struct {
	schema.GroupVersionResource
	Kind       schema.GroupVersionKind
	Namespaced bool
	// Custom is set for kinds of a CustomResourceDefinition.
	Custom bool
	// Subresources maps the name of a subresource to the kind of its object.
	Subresources map[string]schema.GroupVersionKind
	// Assumed is set for kinds that are known by name only: the state has no schema of their objects.
	Assumed bool
	// Singular is the singular name, like deployment.
	Singular string
	// Verbs are the verbs by subresource; "" is the resource itself.
	Verbs map[string][]string
}

// discovered is an entry of discovery.json.
type discovered struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
	Verbs                          []string
	// Gate is the feature gate without which the resource is not served; empty for none.
	Gate         featuregate.Feature
	Subresources []struct {
		Name, Group, Version, Kind string
		Verbs                      []string
	}
}

// builtins are the resources that the API server serves without any CustomResourceDefinition.
type builtins struct {
	byKind      map[schema.GroupVersionKind]Resource
	equivalents runtime.EquivalentResourceRegistry
}

// discovery returns the entries of discovery.json.
func discovery() (list []discovered) {
	if err := json.Unmarshal(discoveryJSON, &list); err != nil {
		panic(fmt.Sprintf("discovery.json: %v", err)) // embedded at build time
	}
	return list
}

// served returns an index of the served entries of discovery.json.
var served = sync.OnceValue(func() *builtins {
	list := listed()
	b := &builtins{
		byKind:      make(map[schema.GroupVersionKind]Resource, len(list)),
		equivalents: runtime.NewEquivalentResourceRegistryWithIdentity(cohabitation),
	}
	for _, r := range list {
		b.byKind[r.Kind] = r
		Register(b.equivalents, r)
	}
	return b
})

// listed returns the entries of discovery.json that the imitated server serves.
var listed = sync.OnceValue(func() []Resource {
	var resources []Resource
	for _, d := range discovery() {
		if r := d.resource(); emulation.Serves(r.GroupVersionResource) && d.enabled() && hasVersion(r.Kind) {
			resources = append(resources, r)
		}
	}
	return resources
})

// optional maps the kinds of discovery.json that are not served to the flags with which they would be.
var optional = sync.OnceValue(func() map[schema.GroupVersionKind]string {
	flags := map[schema.GroupVersionKind]string{}
	for _, d := range discovery() {
		r := d.resource()
		var need []string
		if !emulation.Serves(r.GroupVersionResource) {
			need = append(need, "--runtime-config")
		}
		if !d.enabled() {
			need = append(need, fmt.Sprintf("--feature-gates=%s=true", d.Gate))
		}
		if len(need) > 0 {
			flags[r.Kind] = strings.Join(need, " and ")
		}
	}
	return flags
})

// cohabitation returns a common name for resources that share storage across API groups, which makes
// them equivalent (k8s.io/kubernetes/pkg/kubeapiserver, DefaultStorageFactory:
// AddCohabitatingResources).
func cohabitation(gr schema.GroupResource) string {
	if gr.Resource == "events" && gr.Group == "events.k8s.io" {
		return "/events"
	}
	return "/" + gr.String()
}

// enabled reports whether feature gates enable a resource.
func (d discovered) enabled() bool {
	return d.Gate == "" || utilfeature.DefaultFeatureGate.Enabled(d.Gate)
}

func (d discovered) resource() Resource {
	gv := schema.GroupVersion{Group: d.Group, Version: d.Version}
	r := Resource{
		GroupVersionResource: gv.WithResource(d.Resource),
		Kind:                 gv.WithKind(d.Kind),
		Namespaced:           d.Namespaced,
		Singular:             strings.ToLower(d.Kind), // as for all of Kubernetes' own
		Verbs:                map[string][]string{"": d.Verbs},
		Subresources:         make(map[string]schema.GroupVersionKind, len(d.Subresources)),
	}
	for _, s := range d.Subresources {
		kind := gv.WithKind(s.Kind)
		if s.Version != "" { // of another group, such as Scale
			kind = schema.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}
		}
		r.Subresources[s.Name], r.Verbs[s.Name] = kind, s.Verbs
	}
	return r
}

// Register registers a resource and its subresources for matchPolicy Equivalent.
func Register(registry runtime.EquivalentResourceRegistry, r Resource) {
	registry.RegisterKindFor(r.GroupVersionResource, "", r.Kind)
	for name, kind := range r.Subresources {
		registry.RegisterKindFor(r.GroupVersionResource, name, kind)
	}
}

// Of returns how a built-in kind is served; ok is false if it is not.
func Of(kind schema.GroupVersionKind) (r Resource, ok bool) {
	r, ok = served().byKind[kind]
	return r, ok
}

// AnyVersion returns a served version of a built-in kind.
func AnyVersion(kind schema.GroupKind) (r Resource, ok bool) {
	for k, r := range served().byKind {
		if k.GroupKind() == kind {
			return r, true
		}
	}
	return Resource{}, false
}

// Equivalents returns the mapper of the equivalent resources of the built-in kinds.
func Equivalents() runtime.EquivalentResourceMapper { return served().equivalents }

// HasGroup reports whether a group is Kubernetes' own.
func HasGroup(group string) bool { return CodecOf(group).Scheme.IsGroupRegistered(group) }

// Resources returns the built-in kinds, in the order of the server's discovery. The list must not be
// modified.
func Resources() []Resource { return listed() }
