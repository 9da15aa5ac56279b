package render

import "github.com/preadmit/preadmit/render/artifact"

// Artifact is something that a root needs from outside the repository.
type Artifact struct {
	Kind ArtifactKind
	// URL is where it is, without the version.
	URL string
	// Name is that of a chart in the repository at URL, or the media type of a layer.
	Name string
	// Version is a branch, tag, commit or version; empty for what is there by default.
	Version string
	// Dir is the directory that is needed of a git repository; empty for the top.
	Dir string
	// Submodules is set when the submodules of a git repository are checked out, too.
	Submodules bool
	// Position is the entry that asks for it.
	Position
	// Locate, when set, finds that entry, which takes long; Position is empty then.
	Locate func() Position `json:"-"`
}

// Place is where the entry is that asks for it.
func (a Artifact) Place() Position {
	if a.Locate != nil {
		return a.Locate()
	}
	return a.Position
}

// Asked returns what is requested, wherever.
func (a Artifact) Asked() artifact.Artifact {
	return artifact.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version, Submodules: a.Submodules}
}

// ArtifactKind says what an artifact is.
type ArtifactKind = artifact.Kind

const (
	// ArtifactGit is a git repository.
	ArtifactGit = artifact.Git
	// ArtifactFile is a file that is fetched over HTTP. Kustomize tries a base or resource
	// that is not a repository as one.
	ArtifactFile = artifact.File
	// ArtifactChart is a Helm chart.
	ArtifactChart = artifact.Chart
	// ArtifactOCI is the content of a Flux OCIRepository.
	ArtifactOCI = artifact.OCI
)
