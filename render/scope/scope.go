package scope

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

//go:embed builtin.txt
var builtin string

// Namespaced reports whether a kind of Kubernetes is namespaced; known is false for other kinds.
func Namespaced(apiVersion, kind string) (namespaced, known bool) {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group = ""
	}
	if namespaced, known = kinds()[groupKind{group, kind}]; known {
		return namespaced, true
	}
	return openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind})
}

// IsInitial reports whether every cluster has a Namespace with this name.
func IsInitial(namespace string) bool {
	return slices.Contains([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, namespace)
}

type groupKind struct{ group, kind string }

var kinds = sync.OnceValue(func() map[groupKind]bool {
	all := map[groupKind]bool{}
	for line := range strings.Lines(builtin) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		for _, kind := range words[2:] {
			all[groupKind{strings.TrimPrefix(words[0], "core"), kind}] = words[1] == "N"
		}
	}
	return all
})
