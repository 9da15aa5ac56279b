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

// The keys of settings that influence how Applications are rendered.
const (
	buildOptions   = "kustomize.buildOptions"
	trackingMethod = "application.resourceTrackingMethod"
	instanceLabel  = "application.instanceLabelKey"
	installation   = "installationID"
	exclusions     = "resource.exclusions"
	inclusions     = "resource.inclusions"
)

// enabling maps the keys that can disable a tool to the tool.
func enabling() map[string]string {
	return map[string]string{"kustomize.enable": "Kustomize", "helm.enable": "Helm", "jsonnet.enable": "Directory"}
}

// BuildOptions returns the options of `kustomize build`.
func (s *Settings) BuildOptions() string { return s.data[buildOptions] }

// Apply applies the settings to an Application. tracking and options are those of the configuration; empty for none.
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

// Same reports whether two settings have the same effect on Applications.
func (s *Settings) Same(other *Settings) bool { return maps.Equal(s.rendering(), other.rendering()) }

// rendering returns the settings that influence how Applications are rendered, without empty ones.
func (s *Settings) rendering() map[string]string {
	all := map[string]string{}
	for _, key := range slices.Concat([]string{buildOptions, trackingMethod, instanceLabel, installation, exclusions, inclusions}, slices.Collect(maps.Keys(enabling()))) {
		if value := strings.TrimSpace(s.data[key]); value != "" {
			all[key] = value
		}
	}
	return all
}

// IsDefault reports whether the settings have the same effect on Applications as no settings.
func (s *Settings) IsDefault() bool { return len(s.rendering()) == 0 }

// Decides reports whether a field of the ConfigMap, or of an ArgoCD object, influences how Applications are rendered.
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

// OperatorKind is the kind of the operator's objects, each of which defines an Argo CD.
const OperatorKind = "ArgoCD"

// fields maps fields of the operator's objects to the keys of argocd-cm that the operator sets from them.
func fields() map[string]string {
	return map[string]string{
		"kustomizeBuildOptions": buildOptions, "applicationInstanceLabelKey": instanceLabel, "resourceTrackingMethod": trackingMethod,
		"installationID": installation, "resourceExclusions": exclusions, "resourceInclusions": inclusions,
	}
}

// ParseOperator reads the settings in an object of the operator, which creates the ConfigMap argocd-cm from it.
// extraConfig overrides other fields.
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
