package build

import (
	"net/url"
	"path"

	"github.com/preadmit/preadmit/render"
)

// need records that the root needs an artifact.
func (w *walker) need(a render.Artifact) { w.out.Artifacts = append(w.out.Artifacts, a) }

// artifact returns the artifact of an entry that kustomize would fetch; ok is false for other entries.
func (e Entry) artifact() (a render.Artifact, ok bool) {
	isRemote := remoteBase
	if !e.Kind.mayBeDirectory() {
		isRemote = remoteFile
	}
	switch {
	case !isRemote(e.Value):
		return render.Artifact{}, false
	case !e.Kind.mayBeDirectory():
		return render.Artifact{Kind: render.ArtifactFile, URL: e.Value, Position: e.Position()}, true
	}
	return artifactOf(e.Value, e.Position()), true
}

// artifactOf returns the artifact of a remote entry: a repository, as kustomize's parser of repositories reads
// it, or a file.
func artifactOf(value string, at render.Position) render.Artifact {
	r, ok := repositoryOf(value)
	if !ok || isFile(value) {
		return render.Artifact{Kind: render.ArtifactFile, URL: value, Position: at}
	}
	return render.Artifact{Kind: render.ArtifactGit, URL: r.URL, Version: r.Ref, Dir: r.Dir, Submodules: r.Submodules, Position: at}
}

// isFile reports whether a URL is that of a YAML or JSON file.
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
