package appset

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/argocd"
)

// templateSource is a source in the template of an ApplicationSet.
type templateSource struct {
	RepoURL string `json:"repoURL"`
	Path    string `json:"path"`
	Chart   string `json:"chart"`
}

// mayBe reports whether a source may use a repository.
func (s templateSource) mayBe(isOwn func(url string) bool) bool {
	return strings.Contains(s.RepoURL, "{{") || isOwn(s.RepoURL)
}

// sourcesIn returns the sources in the template of an ApplicationSet; ok is false if there may be others.
func sourcesIn(set []byte) (sources []templateSource, ok bool) {
	var read struct {
		Spec struct {
			TemplatePatch string `json:"templatePatch"`
			Template      struct {
				Spec struct {
					Source  *templateSource  `json:"source"`
					Sources []templateSource `json:"sources"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	err := json.Unmarshal(set, &read)
	sources = read.Spec.Template.Spec.Sources
	if one := read.Spec.Template.Spec.Source; one != nil {
		sources = append(sources, *one)
	}
	return sources, err == nil && read.Spec.TemplatePatch == "" && len(sources) > 0
}

// MayUse reports whether Applications of an ApplicationSet, in JSON, may have a repository as a source: it is false
// only if all their sources are known to use others. isOwn reports whether a URL is that of the repository.
func MayUse(set []byte, isOwn func(url string) bool) bool {
	sources, ok := sourcesIn(set)
	return !ok || slices.ContainsFunc(sources, func(s templateSource) bool { return s.mayBe(isOwn) })
}

// Uses reports whether the template of an ApplicationSet, in JSON, is known to have a repository as a source. isOwn
// reports whether a URL is that of the repository.
func Uses(set []byte, isOwn func(url string) bool) bool {
	sources, _ := sourcesIn(set)
	return slices.ContainsFunc(sources, func(s templateSource) bool { return isOwn(s.RepoURL) })
}

// Names returns the directories of a repository in the template of an ApplicationSet, in JSON, whatever it generates.
// isOwn reports whether a URL is that of the repository.
func Names(set []byte, isOwn func(url string) bool) []string {
	sources, _ := sourcesIn(set)
	var dirs []string
	for _, s := range sources {
		if s.Path != "" && s.Chart == "" && !strings.Contains(s.Path, "{{") && s.mayBe(isOwn) {
			dirs = append(dirs, s.Path)
		}
	}
	return dirs
}

// Reads returns the sources that the git generators of an ApplicationSet, in JSON, read, with the literal directory at
// the beginning of each pattern. A pattern that begins with a wildcard has no path.
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

// visitGit calls a function for all git generators, including those in matrix and merge generators.
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

// literalDir returns the directory that contains all paths a pattern matches.
func literalDir(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\{`); i >= 0 {
		pattern = pattern[:i] + "_"
	}
	return path.Dir(pattern)
}
