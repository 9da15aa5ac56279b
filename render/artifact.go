package render

// Artifact is something that a root needs from outside the repository.
type Artifact struct {
	Kind ArtifactKind
	// URL is where it is, without the version.
	URL string
	// Name is that of a chart in the repository at URL.
	Name string
	// Version is a branch, tag, commit or version; empty for what is there by default.
	Version string
	// Position is the entry that asks for it.
	Position
}

// ArtifactKind says what an artifact is.
type ArtifactKind string

const (
	// ArtifactGit is a git repository.
	ArtifactGit ArtifactKind = "git"
	// ArtifactFile is a file that is fetched over HTTP. Kustomize tries a base or resource
	// that is not a repository as one.
	ArtifactFile ArtifactKind = "file"
	// ArtifactOCI is an OCI artifact.
	ArtifactOCI ArtifactKind = "oci"
	// ArtifactChart is a Helm chart.
	ArtifactChart ArtifactKind = "chart"
)
