package config

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// CRDSource is a source of CustomResourceDefinitions outside of the repository: a file, a
// directory of a git repository, or a chart.
type CRDSource struct {
	// File is the URL of a YAML file, such as one that a project publishes with a release.
	File string `json:"file,omitempty"`
	// Git is the URL of a git repository, Ref its branch, tag or commit, and Path a file or
	// directory in it; empty means the whole repository.
	Git  string `json:"git,omitempty"`
	Ref  string `json:"ref,omitempty"`
	Path string `json:"path,omitempty"`
	// Chart is the name of a chart, Repository the URL of its Helm repository or registry, and
	// Version its version or a range; empty means the newest. The files of its directory crds are
	// used.
	Chart      string `json:"chart,omitempty"`
	Repository string `json:"repository,omitempty"`
	Version    string `json:"version,omitempty"`

	// Line is the line in the configuration file.
	Line int `json:"-"`
}

// Artifact returns the artifact to fetch.
func (s *CRDSource) Artifact() artifact.Artifact {
	switch {
	case s.File != "":
		return artifact.Artifact{Kind: artifact.File, URL: s.File}
	case s.Git != "":
		return artifact.Artifact{Kind: artifact.Git, URL: s.Git, Version: s.Ref}
	}
	return artifact.Artifact{Kind: artifact.Chart, URL: s.Repository, Name: s.Chart, Version: s.Version}
}

// crds checks the sources of CustomResourceDefinitions and sets their lines.
func (c *checker) crds(sources []CRDSource) {
	for i := range sources {
		s, key := &sources[i], fmt.Sprintf("crds[%d]", i)
		s.Line = c.Line(key)
		if c.Failed(key) {
			continue
		}
		given := 0
		for _, text := range []string{s.File, s.Git, s.Chart} {
			if text != "" {
				given++
			}
		}
		switch {
		case given != 1:
			c.Fail(key, "give one of file, git and chart: where CustomResourceDefinitions come from")
		case (s.Ref != "" || s.Path != "") && s.Git == "":
			c.Fail(key, "ref and path are those of a git repository: give git, too")
		case (s.Repository != "" || s.Version != "") && s.Chart == "":
			c.Fail(key, "repository and version are those of a chart: give chart, too")
		case s.Chart != "" && s.Repository == "":
			c.Fail(key, "a chart needs its repository: https://HOST/PATH or oci://HOST/PATH")
		case s.Path != "" && !fs.ValidPath(strings.TrimSuffix(s.Path, "/")):
			c.Fail(key+".path", "%q is no path in the repository", s.Path)
		default:
			if err := s.Artifact().Check(); err != nil {
				c.Fail(key, "%v", err)
			}
		}
	}
}
