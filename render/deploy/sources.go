package deploy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
)

// source is a source of Flux: a GitRepository, OCIRepository or Bucket.
type source struct {
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

func (s *source) where() string {
	if s.Spec.URL != "" {
		return s.Spec.URL
	}
	return "the bucket at " + s.Spec.Endpoint
}

// isPinned reports whether a source of this repository has one revision of it, whatever the
// change is.
func (s *source) isPinned() bool {
	return s.Spec.Ref.Tag != "" || s.Spec.Ref.SemVer != "" || s.Spec.Ref.Commit != ""
}

// version is the revision of a source, as it is written.
func (s *source) version() string {
	r := s.Spec.Ref
	for _, v := range []string{r.Digest, r.Commit, r.Name, r.SemVer, r.Tag, r.Branch} {
		if v != "" {
			return v
		}
	}
	return ""
}

// branch is the branch that a source follows.
func (s *source) branch() string {
	return cmp.Or(strings.TrimPrefix(s.Spec.Ref.Name, "refs/heads/"), s.Spec.Ref.Branch, "master")
}

// isOtherBranch reports whether a branch of this repository has other files than a cluster's:
// it is not the one that the entry point follows or, when that is not known, none that is a
// repository's first.
func (c *cluster) isOtherBranch(branch string) bool {
	if c.branch != "" {
		return branch != c.branch
	}
	return branch != "main" && branch != "master"
}

// artifact is what a source has that is not this repository; nil for one that is not fetched.
func (s *source) artifact(ref render.ObjectRef) *render.Artifact {
	switch {
	case s.Spec.URL == "":
	case ref.Kind == "GitRepository":
		return &render.Artifact{Kind: render.ArtifactGit, URL: s.Spec.URL, Version: s.gitVersion(), Submodules: s.Spec.Recursive}
	case ref.Kind == "OCIRepository" && s.Spec.Ref.Filter == "":
		return &render.Artifact{Kind: render.ArtifactOCI, URL: s.Spec.URL, Name: s.Spec.Layer.MediaType, Version: s.ociVersion()}
	}
	return nil
}

// gitVersion is what source-controller checks out: the most exact that is given.
func (s *source) gitVersion() string {
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

func (s *source) ociVersion() string {
	switch r := s.Spec.Ref; {
	case r.Digest != "":
		return r.Digest
	case r.SemVer != "":
		return artifact.RangePrefix + r.SemVer
	}
	return s.Spec.Ref.Tag
}

// mounted returns the directory in the tree that has the files of an artifact; absent says why
// there is none, after what is said of it.
func (e *expander) mounted(said string, a *render.Artifact) (dir, absent string) {
	dir, ok, err := e.renderer.Tree().Mount(a.Asked())
	missing := new(artifact.MissingError)
	switch {
	case !ok:
		return "", said + ", which is not fetched: preadmit fetch gets it"
	case errors.As(err, &missing):
		return "", fmt.Sprintf("%s, which is not there: %s; %s", said, missing.Why, missing.Hint)
	case err != nil:
		return "", fmt.Sprintf("%s, which cannot be used: %v", said, err)
	}
	return dir, ""
}

// resolveElsewhere makes a unit of an artifact, if that is there; why says what it is made of.
func (e *expander) resolveElsewhere(n *node, checkout render.Checkout, why string, a *render.Artifact) error {
	u := n.root.Unit
	if _, absent := e.mounted(why, a); absent != "" {
		n.without(absent)
	} else if u.Checkout = checkout; u.Parent != (render.RootID{}) {
		n.root.Dir = u.Parent.Dir
	}
	u.Artifact = a
	if a.Position = u.Position(e.ctx, "spec.sourceRef"); u.Problem != nil {
		a.Position = u.Problem.Position
	}
	return nil
}
