package appset

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/argocd"
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

// Reads returns the sources that the git generators of an ApplicationSet, in JSON, read: of each pattern the
// directory that it begins with. Those of a pattern that begins with a wildcard have no path.
func Reads(object []byte) []argocd.Source {
	s, err := parse(object)
	if err != nil {
		return nil
	}
	var all []argocd.Source
	visitGit(s.Spec.Generators, func(g *git) {
		for _, d := range g.Directories {
			all = append(all, argocd.Source{RepoURL: g.RepoURL, Path: literalDir(d.Path + "/")})
		}
		for _, f := range g.Files {
			all = append(all, argocd.Source{RepoURL: g.RepoURL, Path: literalDir(f.Path)})
		}
	})
	return all
}

// visitGit passes the git generators, with those in matrices and merges.
func visitGit(generators []any, visit func(*git)) {
	for _, generator := range generators {
		kinds, _ := generator.(map[string]any)
		for kind, content := range kinds {
			if kind == "git" {
				if g, err := as[git](content); err == nil {
					visit(&g)
				}
			} else if nested, ok := content.(map[string]any); ok {
				inner, _ := nested["generators"].([]any)
				visitGit(inner, visit)
			}
		}
	}
}

// literalDir returns the directory that all paths are in which a pattern matches.
func literalDir(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\{`); i >= 0 {
		pattern = pattern[:i] + "_"
	}
	return path.Dir(pattern)
}
