package argocd

import "encoding/json"

// SettingsName is the ConfigMap that holds the settings of Argo CD.
const SettingsName = "argocd-cm"

// Settings are settings of Argo CD.
type Settings struct {
	// GlobalProjects reports whether there are global projects, which others inherit from.
	GlobalProjects bool
	// Impersonation reports whether syncs impersonate the service accounts that AppProjects name.
	Impersonation bool
}

// ParseSettings reads the ConfigMap with the settings.
func ParseSettings(object json.RawMessage) (Settings, error) {
	var settings struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(object, &settings); err != nil {
		return Settings{}, err
	}
	return Settings{
		GlobalProjects: settings.Data["globalProjects"] != "",
		Impersonation:  settings.Data["application.sync.impersonation.enabled"] == "true",
	}, nil
}
