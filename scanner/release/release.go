// Package release names the Kubernetes releases whose API server can be imitated. It does not link
// Kubernetes; package emulation makes a process imitate a release.
package release

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Latest is the release of the linked API server: that of the module k8s.io/kubernetes.
const Latest = "v1.36.3"

// older is the number of minor versions before Latest that its API server can emulate.
const older = 3

// Release is an API server to imitate.
type Release struct {
	// Version is like v1.34.2. Empty means Latest.
	Version string `json:"version,omitempty"`
	// FeatureGates is the server's flag, like A=true,B=false, sorted; empty for its defaults.
	FeatureGates string `json:"featureGates,omitempty"`
	// RuntimeConfig is the server's flag, like apps/v1=true,api/beta=true, sorted; empty for its defaults.
	RuntimeConfig string `json:"runtimeConfig,omitempty"`
}

// Normal returns the release with its version set.
func (r Release) Normal() Release {
	if r.Version == "" {
		r.Version = Latest
	}
	return r
}

// String returns the release as reports show it.
func (r Release) String() string {
	r = r.Normal()
	if flags := r.Flags(); flags != "" {
		return r.Version + " with " + flags
	}
	return r.Version
}

// Flags returns the feature gates and the runtime config, joined.
func (r Release) Flags() string {
	return strings.Join(slices.DeleteFunc([]string{r.FeatureGates, r.RuntimeConfig}, func(s string) bool { return s == "" }), ",")
}

// Minor returns the minor version of a version like v1.34.2, 0 for invalid versions.
func Minor(version string) int {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return 0
	}
	minor, _ := strconv.Atoi(parts[1]) // ParseVersion checked it
	return minor
}

// Before reports whether a version like v1.34.2 is earlier than another one.
func Before(a, b string) bool {
	return cmp.Or(cmp.Compare(Minor(a), Minor(b)), cmp.Compare(patch(a), patch(b))) < 0
}

// patch returns the patch number of a version like v1.34.2, 0 for invalid versions.
func patch(version string) int {
	number, _ := strconv.Atoi(version[strings.LastIndex(version, ".")+1:]) // ParseVersion checked it
	return number
}

// Minors returns the minor versions that can be imitated, the oldest first, like 1.34.
func Minors() []string {
	var all []string
	for minor := Minor(Latest) - older; minor <= Minor(Latest); minor++ {
		all = append(all, fmt.Sprintf("1.%d", minor))
	}
	return all
}

// written matches a version in user input.
var written = regexp.MustCompile(`^v?1\.(0|[1-9][0-9]{0,2})(?:\.(0|[1-9][0-9]{0,3}))?$`)

// ParseVersion parses a version that can be imitated, like 1.34, v1.34 or 1.34.2, and returns it in the
// form v1.34.2. A minor version alone means its first release, or Latest.
func ParseVersion(text string) (string, error) {
	parts := written.FindStringSubmatch(text)
	if parts == nil {
		return "", fmt.Errorf("%q is not a version of Kubernetes: want one of %s, or a release of these like 1.34.2", text, strings.Join(Minors(), ", "))
	}
	if !slices.Contains(Minors(), "1."+parts[1]) {
		return "", fmt.Errorf("%s: the API server of this version of Kubernetes is not known, want one of %s", text, strings.Join(Minors(), ", "))
	}
	latest := "v1." + parts[1]
	switch {
	case parts[2] != "":
		return latest + "." + parts[2], nil
	case strings.HasPrefix(Latest, latest+"."):
		return Latest, nil
	}
	return latest + ".0", nil
}

// ParseFeatureGates parses the API server's flag --feature-gates, like A=true,B=false. It does not check
// whether a version has the gates.
func ParseFeatureGates(text string) (map[string]bool, error) {
	gates := map[string]bool{}
	for one := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(one, "=")
		name, value = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "kube:")), strings.TrimSpace(value)
		switch enabled, err := strconv.ParseBool(value); {
		case strings.TrimSpace(one) == "":
		case name == "" || !ok:
			return nil, fmt.Errorf("missing bool value for %s: want NAME=true or NAME=false", one)
		case err != nil:
			return nil, fmt.Errorf("invalid value of %s=%s: want true or false", name, value)
		default:
			gates[name] = enabled
		}
	}
	return gates, nil
}

// ParseRuntimeConfig parses the API server's flag --runtime-config, like apps/v1=true,api/beta=true; a
// name alone means true. It does not check whether a version has the APIs.
func ParseRuntimeConfig(text string) (map[string]bool, error) {
	apis := map[string]bool{}
	for one := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(one), "=")
		if name == "" && !ok {
			continue
		}
		enabled, err := true, error(nil)
		if ok && value != "" {
			enabled, err = strconv.ParseBool(strings.TrimSpace(value))
		}
		if name = strings.TrimSpace(name); err != nil || !isAPI(name) {
			return nil, fmt.Errorf("%q is not understood: want GROUP/VERSION=true, GROUP/VERSION/RESOURCE=true, api/beta=true or the like", one)
		}
		apis[name] = enabled
	}
	return apis, nil
}

// isAPI reports whether a name has the form of an API in --runtime-config.
func isAPI(name string) bool {
	parts := strings.Split(name, "/")
	return !slices.Contains(parts, "") && (len(parts) == 2 || len(parts) == 3)
}

// Settings formats feature gates or a runtime config for Release.
func Settings(values map[string]bool) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, fmt.Sprintf("%s=%v", name, values[name]))
	}
	return strings.Join(all, ",")
}
