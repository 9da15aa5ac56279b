package fluxtypes

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
)

// RepositoryRef returns the reference to a GitRepository.
func RepositoryRef(namespace, name string) render.ObjectRef {
	return render.ObjectRef{Group: SourceGroup, Kind: "GitRepository", Namespace: namespace, Name: name}
}

// Source is a source of Flux: a GitRepository, OCIRepository or Bucket.
type Source struct {
	Spec struct {
		URL       string            `json:"url"`
		Endpoint  string            `json:"endpoint"`
		Ignore    *string           `json:"ignore"`
		Include   []json.RawMessage `json:"include"`
		Sparse    []string          `json:"sparseCheckout"`
		Recursive bool              `json:"recurseSubmodules"`
		Ref       struct {
			Branch string `json:"branch"`
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Filter string `json:"semverFilter"`
			Name   string `json:"name"`
			Commit string `json:"commit"`
			Digest string `json:"digest"`
		} `json:"ref"`
		Layer struct {
			MediaType string `json:"mediaType"`
		} `json:"layerSelector"`
	} `json:"spec"`
}

// Where returns the location of the source for a message.
func (s *Source) Where() string {
	if s.Spec.URL != "" {
		return s.Spec.URL
	}
	return "the bucket at " + s.Spec.Endpoint
}

// IsPinned reports whether a source of this repository has a fixed revision, which does not follow changes. The tag of
// an OCI artifact is moved like a branch, so it does not count as fixed.
func (s *Source) IsPinned(kind string) bool {
	r := s.Spec.Ref
	switch {
	case kind == "OCIRepository":
		return r.Digest != "" || r.SemVer != ""
	case r.Commit != "":
		return true
	case r.Name != "":
		return !strings.HasPrefix(r.Name, "refs/heads/")
	}
	return r.SemVer != "" || r.Tag != ""
}

// Revision returns the revision of a source, as it is written.
func (s *Source) Revision() string {
	r := s.Spec.Ref
	for _, v := range []string{r.Digest, r.Commit, r.Name, r.SemVer, r.Tag, r.Branch} {
		if v != "" {
			return v
		}
	}
	return ""
}

// Branch returns the branch that a source follows.
func (s *Source) Branch() string {
	return cmp.Or(strings.TrimPrefix(s.Spec.Ref.Name, "refs/heads/"), s.Spec.Ref.Branch, "master")
}

// Artifact returns the artifact of a source that is not this repository; nil if it is not fetched.
func (s *Source) Artifact(kind string) *render.Artifact {
	switch {
	case s.Spec.URL == "":
	case kind == "GitRepository":
		return &render.Artifact{Kind: render.ArtifactGit, URL: s.Spec.URL, Version: s.gitVersion(), Submodules: s.Spec.Recursive}
	case kind == "OCIRepository" && s.Spec.Ref.Filter == "":
		return &render.Artifact{Kind: render.ArtifactOCI, URL: s.Spec.URL, Name: s.Spec.Layer.MediaType, Version: s.ociVersion()}
	}
	return nil
}

// gitVersion returns the revision that source-controller checks out: the most specific one of the fields.
func (s *Source) gitVersion() string {
	switch r := s.Spec.Ref; {
	case r.Commit != "":
		return r.Commit
	case r.Name != "":
		return r.Name
	case r.SemVer != "":
		return artifact.RangePrefix + r.SemVer
	case r.Tag != "":
		return "refs/tags/" + r.Tag
	case r.Branch != "":
		return "refs/heads/" + r.Branch
	}
	return "refs/heads/master"
}

func (s *Source) ociVersion() string {
	switch r := s.Spec.Ref; {
	case r.Digest != "":
		return r.Digest
	case r.SemVer != "":
		return artifact.RangePrefix + r.SemVer
	}
	return s.Spec.Ref.Tag
}
