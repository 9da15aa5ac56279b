package emulation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/resourceconfig"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/preadmit/preadmit/scanner/release"
)

// stable matches the versions that are served by default (k8s.io/kubernetes/pkg/controlplane,
// DefaultAPIResourceConfigSource).
var stable = regexp.MustCompile(`^v[0-9]+$`)

// Serves reports whether --runtime-config enables a version of a resource. Whether the server has it also
// depends on its version and on feature gates.
func Serves(resource schema.GroupVersionResource) bool {
	Current()
	if apis == nil || !legacyscheme.Scheme.IsVersionRegistered(resource.GroupVersion()) { // of the API server of extensions, or the aggregator
		return stable.MatchString(resource.Version)
	}
	return apis.ResourceEnabled(resource)
}

// resourceConfig returns the APIs that a value of --runtime-config enables, nil for "". For a value with
// which the server does not start it returns the server's error (k8s.io/apiserver/pkg/server/options,
// APIEnablementOptions). The groups are those that package builtin registers.
func resourceConfig(text string) (*serverstorage.ResourceConfig, error) {
	if text == "" {
		return nil, nil
	}
	overrides := cliflag.ConfigurationMap{}
	if err := overrides.Set(text); err != nil {
		return nil, err
	}
	if overrides[resourceconfig.APIAll] == "false" && len(overrides) == 1 {
		return nil, fmt.Errorf("invalid runtime-config with only %v=false", resourceconfig.APIAll)
	}
	named, err := resourceconfig.ParseGroupVersions(overrides)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for _, gv := range named {
		if !legacyscheme.Scheme.IsGroupRegistered(gv.Group) && gv.Group != "apiextensions.k8s.io" && gv.Group != "apiregistration.k8s.io" {
			unknown = append(unknown, gv.String())
		}
	}
	if slices.Sort(unknown); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown api groups %s", strings.Join(unknown, ","))
	}
	config := serverstorage.NewResourceConfig()
	for _, gv := range legacyscheme.Scheme.PrioritizedVersionsAllGroups() {
		if stable.MatchString(gv.Version) {
			config.EnableVersions(gv)
		} else {
			config.DisableVersions(gv)
		}
	}
	return resourceconfig.MergeAPIResourceConfigs(config, overrides, legacyscheme.Scheme)
}

// OtherAPIs returns the entries of a runtime config that change the APIs that are served by default, without
// those that the server does not have.
func OtherAPIs(config map[string]bool) map[string]bool {
	other := map[string]bool{}
	for name, enabled := range config {
		served, err := resourceConfig(release.Settings(map[string]bool{name: enabled}))
		if err == nil && changes(served) {
			other[name] = enabled
		}
	}
	return other
}

// changes reports whether APIs are enabled that are not by default, or the reverse.
func changes(served *serverstorage.ResourceConfig) bool {
	for gv, enabled := range served.GroupVersionConfigs {
		if enabled != stable.MatchString(gv.Version) {
			return true
		}
	}
	for gv, enabled := range served.ExplicitGroupVersionConfigs {
		if enabled != stable.MatchString(gv.Version) {
			return true
		}
	}
	for resource, enabled := range served.ExplicitResourceConfigs {
		if enabled != stable.MatchString(resource.Version) {
			return true
		}
	}
	return false
}

// OtherGates returns the feature gates that the API server has and whose values differ from its own.
func OtherGates(gates map[string]bool) map[string]bool {
	Current()
	known, other := utilfeature.DefaultMutableFeatureGate.GetAll(), map[string]bool{}
	for name, enabled := range gates {
		gate := featuregate.Feature(name)
		if _, ok := known[gate]; ok && utilfeature.DefaultFeatureGate.Enabled(gate) != enabled {
			other[name] = enabled
		}
	}
	return other
}
