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

// Served returns the APIs that an API server of a version of Kubernetes serves by default, in order: groups with
// versions, such as policy/v1, and kinds in them, such as policy/v1/PodDisruptionBudget. For an invalid version it
// returns those of the latest one.
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

// ServedByAll reports whether a name is served by API servers of all versions that can be imitated, or by none.
func ServedByAll(name string) bool { return served()[name] == 0 }

// served maps names to the minor version since which they are served; 0 for all versions.
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

// HasGroup reports whether a group is one of Kubernetes itself, in any version.
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
