package appset

import (
	"encoding/json"
	"slices"
	"strings"
)

// MayUse reports whether Applications of an ApplicationSet, in JSON, may have a repository as a
// source: not if all their sources are known to be others. isOwn reports whether a URL is that of the repository.
func MayUse(set []byte, isOwn func(url string) bool) bool {
	type source struct {
		RepoURL string `json:"repoURL"`
	}
	var read struct {
		Spec struct {
			TemplatePatch string `json:"templatePatch"`
			Template      struct {
				Spec struct {
					Source  *source  `json:"source"`
					Sources []source `json:"sources"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(set, &read); err != nil || read.Spec.TemplatePatch != "" {
		return true
	}
	sources := read.Spec.Template.Spec.Sources
	if one := read.Spec.Template.Spec.Source; one != nil {
		sources = append(sources, *one)
	}
	return len(sources) == 0 || slices.ContainsFunc(sources, func(s source) bool { return strings.Contains(s.RepoURL, "{{") || isOwn(s.RepoURL) })
}
