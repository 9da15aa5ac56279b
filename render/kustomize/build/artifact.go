package build

import (
	"net/url"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// need notes that the root needs something from outside the repository.
func (w *walker) need(a render.Artifact) { w.out.Artifacts = append(w.out.Artifacts, a) }

// artifactOf returns what an entry that is remote asks for, as kustomize's parser of
// repositories reads it: `?ref=` and `?version=` name a commit.
func artifactOf(value string, at render.Position) render.Artifact {
	a := render.Artifact{Kind: render.ArtifactGit, URL: value, Position: at}
	if isFile(value) {
		a.Kind = render.ArtifactFile
		return a
	}
	before, query, ok := strings.Cut(value, "?")
	if !ok {
		return a
	}
	a.URL = before
	values, err := url.ParseQuery(query)
	if err != nil {
		return a
	}
	if a.Version = values.Get("ref"); a.Version == "" {
		a.Version = values.Get("version")
	}
	return a
}

// isFile reports whether an URL is that of a YAML or JSON file.
func isFile(value string) bool {
	u, err := url.Parse(value)
	if err != nil || !remoteFile(value) {
		return false
	}
	switch path.Ext(u.Path) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// needCharts notes the charts that a kustomization inflates.
func (w *walker) needCharts(k *Kustomization) {
	for i, c := range k.Spec.HelmCharts {
		w.need(render.Artifact{
			Kind: render.ArtifactChart, URL: c.Repo, Name: c.Name, Version: c.Version, Position: k.Position("helmCharts", i),
		})
	}
	for i, c := range k.Spec.HelmChartInflationGenerator {
		w.need(render.Artifact{
			Kind: render.ArtifactChart, URL: c.ChartRepoURL, Name: c.ChartName, Version: c.ChartVersion,
			Position: k.Position("helmChartInflationGenerator", i),
		})
	}
}
