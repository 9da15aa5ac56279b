package scope

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
)

//go:embed served.txt
var servedText string

// Served returns what an API server of a version of Kubernetes serves of its own, in order: groups with
// their versions, as policy/v1, and kinds in them, as policy/v1/PodDisruptionBudget. What takes a flag of
// the server is not among it. Of a version that cannot be read it is what the latest serves.
func Served(kubeVersion string) []string {
	v, err := version.ParseGeneric(kubeVersion)
	var all []string
	for name, since := range served() {
		if err != nil || since == 0 || v.AtLeast(version.MajorMinor(1, since)) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// ServedByAll reports whether a name is served by API servers of all versions that are imitated, or by none.
func ServedByAll(name string) bool { return served()[name] == 0 }

// served has the names with the minor version from which on they are served; 0 for all.
var served = sync.OnceValue(func() map[string]uint {
	all := map[string]uint{}
	for line := range strings.Lines(servedText) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		kinds, since := words[1:], uint64(0)
		if n, err := strconv.ParseUint(words[1], 10, 8); err == nil {
			kinds, since = words[2:], n
		}
		if known, ok := all[words[0]]; !ok || uint(since) < known {
			all[words[0]] = uint(since)
		}
		for _, kind := range kinds {
			all[words[0]+"/"+kind] = uint(since)
		}
	}
	return all
})

// HasGroup reports whether a group is one of Kubernetes itself, whatever the version.
func HasGroup(group string) bool { return groups()[group] }

var groups = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for kind := range kinds() {
		all[kind.group] = true
	}
	for name := range served() {
		if group, _, ok := strings.Cut(name, "/"); ok {
			all[group] = true
		}
	}
	return all
})
