package render

import "github.com/preadmit/preadmit/render/artifact"

// Artifact is something that a root needs from outside the repository.
type Artifact struct {
	Kind ArtifactKind
	// URL is the location, without the version.
	URL string
	// Name is the name of a chart in the repository at URL, or the media type of a layer.
	Name string
	// Version is a branch, tag, commit or version; empty means the default.
	Version string
	// Dir is the needed directory of a git repository; empty for the top.
	Dir string
	// Submodules is set when the submodules of a git repository are checked out as well.
	Submodules bool
	// Position is the entry that refers to the artifact.
	Position
	// Locate, when set, finds that entry, which is slow; Position is empty then.
	Locate func() Position `json:"-"`
}

// Place returns the position of the entry that refers to the artifact.
func (a Artifact) Place() Position {
	if a.Locate != nil {
		return a.Locate()
	}
	return a.Position
}

// Requested returns the requested artifact, without the position.
func (a Artifact) Requested() artifact.Artifact {
	return artifact.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version, Submodules: a.Submodules}
}

// ArtifactKind is the kind of an artifact.
type ArtifactKind = artifact.Kind

const (
	// ArtifactGit is a git repository.
	ArtifactGit = artifact.Git
	// ArtifactFile is a file that is fetched over HTTP. Kustomize tries this for a base or resource that is not a
	// repository.
	ArtifactFile = artifact.File
	// ArtifactChart is a Helm chart.
	ArtifactChart = artifact.Chart
	// ArtifactOCI is the content of a Flux OCIRepository.
	ArtifactOCI = artifact.OCI
)
