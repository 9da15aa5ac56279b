package artifact

import (
	"fmt"
	"strings"
)

// Submodule is a git submodule of a tree: a commit of another repository, at a path.
type Submodule struct {
	Path, Commit string
	// URL is its URL in .gitmodules; empty if git would not fetch it.
	URL string
}

// Of returns the submodule as an artifact. url is the URL of the repository, against which git resolves a relative URL.
func (s Submodule) Of(url string) (Artifact, error) {
	if s.URL == "" {
		return Artifact{}, fmt.Errorf("its .gitmodules has no URL that git would fetch for the submodule %s", s.Path)
	}
	at := s.URL
	if strings.HasPrefix(at, "./") || strings.HasPrefix(at, "../") {
		at = relative(url, at)
	}
	return Artifact{Kind: Git, URL: at, Version: s.Commit}, nil
}

// relative resolves a URL that begins with ./ or ../ against a base.
func relative(base, to string) string {
	base, sep := strings.TrimSuffix(base, "/"), "/"
	for {
		if rest, ok := strings.CutPrefix(to, "./"); ok {
			to = rest
			continue
		}
		rest, ok := strings.CutPrefix(to, "../")
		if !ok {
			return strings.TrimSuffix(base+sep+to, "/")
		}
		to = rest
		if i := strings.LastIndex(base, "/"); i >= 0 {
			base = base[:i]
		} else if i := strings.LastIndex(base, ":"); i >= 0 { // user@host:repository
			base, sep = base[:i], ":"
		} else {
			base = ""
		}
	}
}
