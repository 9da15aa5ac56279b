package scanner_test

import (
	"slices"
	"strings"
	"testing"
)

// TestExtensionOfManifests checks that files which kubectl, Flux and Argo CD do not read in a
// directory are neither judged nor used to judge, whatever kustomizations use next to them, and are
// reported.
func TestExtensionOfManifests(t *testing.T) {
	upper := strings.NewReplacer("limit.yaml", "P.YAML", "binding.yaml", "B.Yaml").Replace(gatedApp)
	const (
		beside    = "-- policies/other.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {size: \"1\"}}\n"
		elsewhere = "-- zz/kustomization.yaml --\nresources: [../policies/other.yaml]\n"
	)
	for name, test := range map[string]struct {
		archive string
		given   []string
		denied  bool
	}{
		"a directory":                                  {upper, []string{"policies"}, false},
		"a directory with a manifest":                  {upper + beside, []string{"policies"}, false},
		"a directory that a kustomization reads":       {upper + beside + elsewhere, []string{"policies"}, false},
		"the files themselves":                         {upper, []string{"policies/P.YAML", "policies/B.Yaml"}, true},
		"files that a kustomization has":               {upper + "-- policies/kustomization.yaml --\nresources: [P.YAML, B.Yaml]\n", []string{"policies"}, true},
		"a directory with names in lower case":         {gatedApp + beside, []string{"policies"}, true},
		"the same, of which a kustomization reads one": {gatedApp + beside + elsewhere, []string{"policies"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(test.archive, changed(test.archive))
			in.Config.Policies, in.Config.Roots = test.given, []string{"app/**"}
			said := reportLines(mustScan(t, in))
			denied := slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "too many") })
			unread := slices.ContainsFunc(said, func(line string) bool {
				return strings.HasPrefix(line, "indeterminate manifest with another extension policies")
			})
			if denied != test.denied || unread != (strings.Contains(test.archive, "P.YAML") && !test.denied) {
				t.Errorf("denied %v, reported %v: %q", denied, unread, said)
			}
		})
	}
}
