package permit

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// Pattern is a pattern of URLs: https://github.com/OWNER/*, oci://ghcr.io/OWNER/**. A * matches any text without /, and
// ** at the end everything below. The host has no wildcards.
type Pattern struct {
	scheme, host, path string
	below              bool
}

// ParsePattern parses a pattern.
func ParsePattern(text string) (Pattern, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "https" && scheme != "oci" && scheme != "ssh" {
		return Pattern{}, fmt.Errorf("%q is no pattern of URLs: want one that begins with https://, oci:// or ssh://", text)
	}
	host, rest, _ := strings.Cut(rest, "/")
	switch {
	case host == "":
		return Pattern{}, fmt.Errorf("%q has no host", text)
	case strings.ContainsAny(host, "*?[@"):
		return Pattern{}, fmt.Errorf("the host %q must be written out, without * and users", host)
	case strings.ContainsAny(rest, "?[\\"):
		return Pattern{}, fmt.Errorf("%q: of a pattern only * and, at the end, ** are special", text)
	}
	p := Pattern{scheme: scheme, host: strings.ToLower(host), path: rest}
	if p.path, p.below = strings.CutSuffix("/"+rest, "/**"); strings.Contains(p.path, "**") {
		return Pattern{}, fmt.Errorf("%q: ** may only be the last part", text)
	}
	p.path = strings.Trim(p.path, "/")
	return p, nil
}

// errParentPath is the error of a URL with . or .. in its path.
var errParentPath = errors.New("the URL has . or .. in its path")

// Matches reports whether an artifact matches the pattern.
func (p Pattern) Matches(a artifact.Artifact) bool {
	scheme, host, at, err := parts(a)
	if err != nil || scheme != p.scheme || host != p.host {
		return false
	}
	if !p.below {
		ok, err := path.Match(p.path, at)
		return err == nil && ok
	}
	// Compare the pattern with as many elements of the path as it has.
	n := strings.Count(p.path, "/") + 1
	if p.path == "" {
		return true
	}
	split := strings.SplitN(at, "/", n+1)
	if len(split) <= n {
		return false
	}
	ok, err := path.Match(p.path, strings.Join(split[:n], "/"))
	return err == nil && ok
}

// parts returns the scheme, host and path of the URL of an artifact.
func parts(a artifact.Artifact) (scheme, host, at string, err error) {
	url := a.URL
	if a.Kind == artifact.Chart {
		url = strings.TrimSuffix(url, "/") + "/" + a.Name
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok { // user@host:path
		scheme = "ssh"
		user, after, _ := strings.Cut(url, ":")
		rest = user + "/" + strings.TrimPrefix(after, "/")
	}
	host, at, _ = strings.Cut(rest, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 && scheme == "ssh" {
		host = host[i+1:]
	}
	if at, _, _ = strings.Cut(at, "?"); scheme != "oci" && a.Kind == artifact.Git {
		at = strings.TrimSuffix(strings.TrimSuffix(at, "/"), ".git")
	}
	for part := range strings.SplitSeq(at, "/") {
		if part == "." || part == ".." || strings.Contains(part, "%") || strings.Contains(part, "\\") {
			return "", "", "", errParentPath
		}
	}
	return scheme, strings.ToLower(host), strings.TrimSuffix(at, "/"), nil
}
