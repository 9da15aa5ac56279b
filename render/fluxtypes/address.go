package fluxtypes

import (
	"cmp"
	"strings"
)

// Address returns the URL of a repository without parts that do not distinguish repositories: scheme, user, port and
// the .git suffix. It is in lower case, because hosts of repositories ignore case.
func Address(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	} else if host, rest, ok := strings.Cut(url, ":"); ok { // git@host:path
		url = host + "/" + rest
	}
	host, rest, ok := strings.Cut(url, "/")
	if !ok {
		return url
	}
	if _, name, ok := strings.Cut(host, "@"); ok {
		host = name
	}
	host, _, _ = strings.Cut(host, ":")
	return cmp.Or(overHTTPS(host), strings.ToLower(host)) + "/" + strings.TrimSuffix(strings.ToLower(strings.Trim(rest, "/")), ".git")
}

// overHTTPS returns the host for which another host accepts SSH on the port of HTTPS; empty for other hosts.
func overHTTPS(host string) string {
	return map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org"}[strings.ToLower(host)]
}
