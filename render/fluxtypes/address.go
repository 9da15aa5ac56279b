package fluxtypes

import (
	"cmp"
	"strings"
)

// Address is a URL of a repository without what does not tell repositories apart: how it is
// reached, as whom, the suffix and, as hosts of repositories have it, case.
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

// overHTTPS is the host of which another one takes SSH on the port of HTTPS; empty for others.
func overHTTPS(host string) string {
	return map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org"}[strings.ToLower(host)]
}
