package build

import (
	"net/url"
	"path"
	"strconv"
	"strings"
)

// repository is what kustomize fetches with git for an entry.
type repository struct {
	// URL is the argument of `git fetch`, Ref the branch, tag or commit; empty for HEAD.
	URL, Ref string
	// Dir is the directory of the kustomization in it; empty for the top.
	Dir string
	// Submodules is set unless the query turns them off.
	Submodules bool
}

// repositoryOf parses an entry as kustomize parses entries that are no local path: a host, a repository, a
// directory in it, and a query. ok is false for entries that kustomize does not treat as a repository.
func repositoryOf(entry string) (r repository, ok bool) {
	if path.IsAbs(entry) {
		return r, false
	}
	location, query, _ := strings.Cut(entry, "?")
	r.Ref, r.Submodules = parseQuery(query)
	host, rest, ok := cutHost(location)
	if !ok {
		return r, false
	}
	name, dir, ok := cutRepository(rest, strings.HasPrefix(host, "file://"))
	if !ok || name == "" {
		return r, false
	}
	if clean := path.Clean(strings.TrimPrefix(dir, "/")); clean == ".." || strings.HasPrefix(clean, "../") {
		return r, false
	}
	r.URL, r.Dir = host+name, strings.TrimPrefix(dir, "/")
	return r, true
}

// parseQuery returns the commit that a query names, and whether submodules are checked out.
func parseQuery(query string) (ref string, submodules bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", true
	}
	if ref = values.Get("ref"); ref == "" {
		ref = values.Get("version")
	}
	submodules, err = strconv.ParseBool(values.Get("submodules"))
	return ref, submodules || err != nil
}

// cutHost cuts off scheme, user and host, in the form that git gets: for github.com always HTTPS, or SSH when
// there is a user.
func cutHost(location string) (host, rest string, ok bool) {
	_, location = cutFold(location, "git::")
	scheme := ""
	for _, known := range []string{"ssh://", "https://", "http://", "file://"} {
		if scheme, location = cutFold(location, known); scheme != "" {
			break
		}
	}
	if scheme == "file://" {
		return scheme, location, true
	}
	user := userAtHost.FindString(location)
	location = strings.TrimPrefix(location, user)
	github := isGitHub(location)
	scp := scheme == "" && (user != "" || github)
	if scheme == "" && !scp {
		return "", "", false
	}
	end := strings.Index(location, "/")
	if colon := strings.Index(location, ":"); scp && (end < 0 || colon > 0 && colon < end) {
		end = colon
	}
	host, rest = location[:end+1], location[end+1:]
	if end < 0 {
		host, rest = location, ""
	}
	switch {
	case github && (scheme == "ssh://" || user != ""):
		return user + "github.com:", rest, true
	case github:
		return "https://github.com/", rest, true
	}
	return scheme + user + host, rest, host != ""
}

func isGitHub(location string) bool {
	lower := strings.ToLower(location)
	return strings.HasPrefix(lower, "github.com/") || strings.HasPrefix(lower, "github.com:")
}

// cutFold cuts off a prefix, ignoring case.
func cutFold(s, prefix string) (found, rest string) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return prefix, s[len(prefix):]
	}
	return "", s
}

// cutRepository splits a path into the repository's path and the directory in it: after _git/NAME, at //,
// after .git, or else after two parts. A local path is all repository.
func cutRepository(p string, local bool) (name, dir string, ok bool) {
	const azure = "_git/"
	if before, after, found := strings.Cut(p, azure); found {
		first, rest, _ := strings.Cut(after, "/")
		return before + azure + first, rest, true
	}
	if before, after, found := strings.Cut(p, "//"); found {
		return before, after, true
	}
	if before, after, found := strings.Cut(p, ".git"); found {
		return before + ".git", after, true
	}
	if local {
		return p, "", true
	}
	owner, after, found := strings.Cut(p, "/")
	if !found {
		return "", "", false
	}
	project, dir, _ := strings.Cut(after, "/")
	return owner + "/" + project, dir, true
}

// Repository returns what kustomize fetches with git for an entry; ok is false when it fetches nothing.
func Repository(entry string) (url, ref string, submodules, ok bool) {
	r, ok := repositoryOf(entry)
	return r.URL, r.Ref, r.Submodules, ok
}
