package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
)

// The keys of settings that decide what Applications render to.
const (
	buildOptions   = "kustomize.buildOptions"
	trackingMethod = "application.resourceTrackingMethod"
	instanceLabel  = "application.instanceLabelKey"
	installation   = "installationID"
	exclusions     = "resource.exclusions"
	inclusions     = "resource.inclusions"
)

// enabling are the keys that turn tools off, by these.
func enabling() map[string]string {
	return map[string]string{"kustomize.enable": "Kustomize", "helm.enable": "Helm", "jsonnet.enable": "Directory"}
}

// BuildOptions returns the options of `kustomize build`.
func (s *Settings) BuildOptions() string { return s.data[buildOptions] }

// Apply sets the settings for an Application. tracking and options are those that the configuration has; empty for none.
func (s *Settings) Apply(a *render.Application, tracking, options string) error {
	a.BuildOptions = cmp.Or(options, s.data[buildOptions])
	if method := s.data[trackingMethod]; tracking == "" && (method == "label" || method == "annotation+label") {
		a.Tracking = method
	}
	a.InstanceLabel, a.Installation = s.data[instanceLabel], s.data[installation]
	for key, tool := range enabling() {
		if value := s.data[key]; value != "" && value != "true" {
			a.Disabled = append(a.Disabled, tool)
		}
	}
	slices.Sort(a.Disabled)
	for key, into := range map[string]*[]render.ResourceFilter{exclusions: &a.Exclusions, inclusions: &a.Inclusions} {
		if err := yaml.Unmarshal([]byte(s.data[key]), into); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// Same reports whether two settings make the same of Applications.
func (s *Settings) Same(other *Settings) bool { return maps.Equal(s.rendering(), other.rendering()) }

// rendering are the settings that decide what Applications render to, without those that are as if they were not there.
func (s *Settings) rendering() map[string]string {
	all := map[string]string{}
	for _, key := range slices.Concat([]string{buildOptions, trackingMethod, instanceLabel, installation, exclusions, inclusions}, slices.Collect(maps.Keys(enabling()))) {
		if value := strings.TrimSpace(s.data[key]); value != "" {
			all[key] = value
		}
	}
	return all
}

// IsDefault reports whether the settings make of Applications what Argo CD does without any.
func (s *Settings) IsDefault() bool { return len(s.rendering()) == 0 }

// Decides reports whether a field of the ConfigMap, or of an ArgoCD, decides what Applications render to.
func Decides(path []string) bool {
	if len(path) < 2 {
		return len(path) == 0 || path[0] == "data" || path[0] == "spec"
	}
	key := path[1]
	if path[0] == "spec" {
		return key == "extraConfig" && (len(path) == 2 || isKey(path[2])) || fields()[key] != "" || key == "resourceExclusions" || key == "resourceInclusions"
	}
	return path[0] == "data" && isKey(key)
}

func isKey(key string) bool {
	all := []string{buildOptions, trackingMethod, instanceLabel, installation, exclusions, inclusions}
	return slices.Contains(all, key) || enabling()[key] != ""
}

// OperatorKind is the kind of the operator's objects, each of which is an Argo CD.
const OperatorKind = "ArgoCD"

// fields are the fields of the operator's objects, with the keys of argocd-cm that the operator makes of them.
func fields() map[string]string {
	return map[string]string{
		"kustomizeBuildOptions": buildOptions, "applicationInstanceLabelKey": instanceLabel, "resourceTrackingMethod": trackingMethod,
		"installationID": installation, "resourceExclusions": exclusions, "resourceInclusions": inclusions,
	}
}

// ParseOperator reads an object of the operator, which makes the ConfigMap argocd-cm of it: extraConfig counts before fields.
func ParseOperator(object json.RawMessage) (Settings, error) {
	var argo struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(object, &argo); err != nil {
		return Settings{}, err
	}
	data := map[string]string{}
	for field, key := range fields() {
		if text, ok := argo.Spec[field].(string); ok && text != "" {
			data[key] = text
		}
	}
	versions, _ := argo.Spec["kustomizeVersions"].([]any)
	for _, v := range versions {
		if v, _ := v.(map[string]any); v["version"] != nil {
			data[fmt.Sprintf("kustomize.version.%v", v["version"])] = fmt.Sprint(v["path"])
		}
	}
	extra, _ := argo.Spec["extraConfig"].(map[string]any)
	for key, value := range extra {
		if text, ok := value.(string); ok {
			data[key] = text
		}
	}
	return of(data), nil
}
