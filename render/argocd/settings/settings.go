package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Name is the name of the ConfigMap that holds the settings of Argo CD.
const Name = "argocd-cm"

// Settings are settings of Argo CD.
type Settings struct {
	// GlobalProjects is set when there are global projects, from which others inherit.
	GlobalProjects bool
	// Impersonation is set when syncs impersonate the service accounts in AppProjects.
	Impersonation bool

	data map[string]string
}

// Parse reads the ConfigMap with the settings.
func Parse(object json.RawMessage) (Settings, error) {
	var settings struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(object, &settings); err != nil {
		return Settings{}, err
	}
	return of(settings.Data), nil
}

func of(data map[string]string) Settings {
	return Settings{GlobalProjects: data["globalProjects"] != "", Impersonation: data["application.sync.impersonation.enabled"] == "true", data: data}
}

// OfKustomize returns a message about an Application that selects a version of kustomize (util/settings,
// addKustomizeVersion and GetKustomizeBinaryPath). known is false if the settings are not known.
func (s *Settings) OfKustomize(version string, known bool) string {
	_, old := s.data["kustomize.version."+version]
	_, registered := s.data["kustomize.path."+version]
	switch {
	case !known:
		return fmt.Sprintf("Argo CD builds it with kustomize %s if the ConfigMap argocd-cm names one, and applies nothing if not: it is built with 5.8.1 here, which may make other objects", version)
	case !old && !registered:
		return fmt.Sprintf("Argo CD applies nothing of it: kustomize version %s is not registered in the ConfigMap argocd-cm", version)
	}
	return fmt.Sprintf("Argo CD builds it with kustomize %s: it is built with 5.8.1 here, which may make other objects", version)
}

// customizations is the key of settings by kind, and the prefix of the keys for a single kind.
const customizations = "resource.customizations"

// Differences returns the fields that are not compared in objects of any Application, by kind (util/settings,
// GetResourceOverrides). The error contains the key that cannot be read.
func (s *Settings) Differences() ([]Difference, error) {
	var kinds map[string]struct {
		IgnoreDifferences string `json:"ignoreDifferences"`
	}
	if err := yaml.Unmarshal([]byte(s.data[customizations]), &kinds); err != nil {
		return nil, fmt.Errorf("data[%q]: %w", customizations, err)
	}
	texts, keys := map[string]string{}, map[string]string{}
	for kind, k := range kinds {
		texts[kind], keys[kind] = k.IgnoreDifferences, customizations
	}
	const ofKind = customizations + ".ignoreDifferences."
	for _, key := range slices.Sorted(maps.Keys(s.data)) {
		name, ok := strings.CutPrefix(key, ofKind)
		if !ok {
			continue
		}
		if name == "" || strings.Count(name, "_") > 1 {
			return nil, fmt.Errorf("data[%q]: %q is not GROUP_KIND", key, name)
		}
		kind := strings.ReplaceAll(name, "_", "/")
		if kind == "all" {
			kind = "*/*"
		}
		texts[kind], keys[kind] = s.data[key], key
	}
	var out []Difference
	for _, kind := range slices.Sorted(maps.Keys(texts)) {
		var d Difference
		if err := yaml.Unmarshal([]byte(texts[kind]), &d); err != nil {
			return nil, fmt.Errorf("data[%q]: ignoreDifferences of %s: %w", keys[kind], kind, err)
		}
		d.Group, d.Kind, d.Name, d.Namespace = "", kind, "", ""
		if group, kind, ok := strings.Cut(kind, "/"); ok {
			d.Group, d.Kind = group, kind
		}
		out = append(out, d)
	}
	return out, nil
}
