package build

import (
	"net/url"
	"regexp"
	"strings"
)

var userAtHost = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// remoteBase reports whether kustomize would try an entry of resources, bases or components as a git
// repository. It accepts a superset of what kustomize's git.NewRepoSpecFromURL accepts: every form of which
// that parser strips a prefix. The forms count even when a local file of that name exists, because kustomize
// falls back to them when the file does not load.
func remoteBase(entry string) bool {
	if remoteFile(entry) {
		return true
	}
	s := strings.ToLower(entry)
	s = strings.TrimPrefix(s, "git::")
	for _, scheme := range []string{"ssh://", "https://", "http://", "file://", "git://"} {
		if strings.HasPrefix(s, scheme) {
			return true
		}
	}
	if userAtHost.MatchString(s) {
		return strings.ContainsAny(s, "/:")
	}
	return strings.HasPrefix(s, "github.com/") || strings.HasPrefix(s, "github.com:")
}

// remoteFile reports whether kustomize would fetch a path over HTTP (its
// loader.IsRemoteFile).
func remoteFile(path string) bool {
	u, err := url.Parse(path)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}
