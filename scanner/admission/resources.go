package admission

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// KubernetesVersion returns the release whose API server the process imitates.
func KubernetesVersion() string { return builtin.KubernetesVersion() }

// Resource is a kind the API server serves.
type Resource = builtin.Resource

// Resources returns all resources that the cluster serves, one for each version: the built-in ones in
// the order of the server's discovery, then those of CustomResourceDefinitions sorted by group,
// plural and version.
func (c *Cluster) Resources() []Resource {
	resources := slices.Clone(builtin.Resources())
	own := len(resources)
	for _, crd := range c.custom() {
		resources = append(resources, custom.AllServed(crd.outline())...)
	}
	slices.SortFunc(resources[own:], func(a, b Resource) int {
		return strings.Compare(a.GroupVersionResource.String(), b.GroupVersionResource.String())
	})
	return resources
}

// BuiltinGroup reports whether an API group is Kubernetes' own, so that no CustomResourceDefinition
// adds resources to it. The group extensions was, until 1.22.
func BuiltinGroup(group string) bool { return group == "extensions" || builtin.HasGroup(group) }

// Namespaces returns the names of the Namespaces that the state defines, sorted.
func (c *Cluster) Namespaces() []string {
	var names []string
	for _, o := range c.list(kinds.Namespace) {
		if o.Name() != "" {
			names = append(names, o.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Matching returns the part of a request's interfaces that the API server's matcher of policies
// needs: equivalent resources. It converts nothing.
func (c *Cluster) Matching() admission.ObjectInterfaces { return matching{mapper: c.mapper()} }

type matching struct {
	admission.ObjectInterfaces
	mapper runtime.EquivalentResourceMapper
}

func (m matching) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return m.mapper }

// All returns the objects of a kind in every namespace, in the order of the state.
func (c *Cluster) All(r Resource) []*Object { return c.list(r.Kind.GroupKind()) }

// SystemNamespaces returns the names of the namespaces that every cluster has, sorted.
func SystemNamespaces() []string { return slices.Sorted(maps.Keys(systemNamespaces)) }
