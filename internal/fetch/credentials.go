package fetch

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// Credentials are credentials by host. A nil value has none.
type Credentials struct{ hosts map[string]Login }

// OwnedCredentials are the credentials of hosts for owners of repositories. A nil value has none.
type OwnedCredentials struct{ entries []ownedLogin }

type ownedLogin struct {
	owners []string
	host   string
	login  Login
}

// everybody in a list of owners means all of them.
const everybody = "*"

// For returns the credentials for repositories of an owner; nil without any. Entries that name the
// owner take precedence over those for everybody.
func (o *OwnedCredentials) For(owner string) *Credentials {
	if o == nil {
		return nil
	}
	c := &Credentials{hosts: map[string]Login{}}
	for _, name := range []string{everybody, strings.ToLower(owner)} {
		for _, e := range o.entries {
			if slices.Contains(e.owners, name) {
				c.hosts[e.host] = e.login
			}
		}
	}
	if len(c.hosts) == 0 {
		return nil
	}
	return c.withDocker()
}

// Login has the credentials for a host.
type Login struct {
	// Username and Password are for basic authentication; Token, if set, is a bearer token instead.
	Username, Password, Token string
	// Realms are other hosts that issue tokens for this one, a registry.
	Realms []string
	// SSH has the credentials for SSH; nil without any.
	SSH *SSHLogin
}

// isHTTP reports whether there are credentials for HTTPS.
func (l Login) isHTTP() bool { return l.Token != "" || l.Username != "" }

// set sets the Authorization header of a request.
func (l Login) set(req *http.Request) {
	if l.Token != "" {
		req.Header.Set("Authorization", "Bearer "+l.Token)
		return
	}
	req.SetBasicAuth(l.Username, l.Password)
}

// of returns the credentials of a host for HTTPS.
func (c *Credentials) of(host string) (Login, bool) {
	if c == nil {
		return Login{}, false
	}
	login := c.hosts[strings.ToLower(strings.TrimSuffix(host, ":443"))]
	return login, login.isHTTP()
}

// registryKey is the context key of the registry that a client of registries uses.
type registryKey struct{}

// mayGet reports whether a host may receive the credentials of the registry in ctx: it is the
// registry, or the host that issues its tokens.
func (c *Credentials) mayGet(ctx context.Context, host string) bool {
	registry, _ := ctx.Value(registryKey{}).(string)
	if registry == "" {
		return false
	}
	login, _ := c.of(registry)
	return host == registry || registry == dockerRegistry && host == dockerRealm || slices.Contains(login.Realms, host)
}

// Docker Hub issues its tokens on another host.
const (
	dockerRegistry = "registry-1.docker.io"
	dockerRealm    = "auth.docker.io"
)

// credentialsFile is the content of the file of --credentials.
type credentialsFile struct {
	Hosts []hostEntry `json:"hosts"`
}

type hostEntry struct {
	Host        string   `json:"host"`
	Owners      []string `json:"owners,omitempty"`
	Username    string   `json:"username,omitempty"`
	PasswordEnv string   `json:"passwordEnv,omitempty"`
	TokenEnv    string   `json:"tokenEnv,omitempty"`
	Realms      []string `json:"realms,omitempty"`
	SSHKeyEnv   string   `json:"sshKeyEnv,omitempty"`
	SSHUser     string   `json:"sshUser,omitempty"`
	HostKeys    []string `json:"hostKeys,omitempty"`
}

// ParseCredentials parses a file of credentials. The file names environment variables that have
// the secrets. The path is used in messages only.
func ParseCredentials(path string, data []byte, getenv func(string) string) (*Credentials, error) {
	c := &Credentials{hosts: map[string]Login{}}
	err := parseCredentials(path, data, getenv, func(document *strictyaml.Document, i int, h hostEntry) {
		host := strings.ToLower(h.Host)
		if _, ok := c.hosts[host]; ok {
			document.Fail(hostField(i, "host"), "%s is there twice", h.Host)
		}
		if len(h.Owners) > 0 {
			document.Fail(hostField(i, "owners"), "is for preadmit serve, which scans repositories of several owners")
		}
		c.hosts[host] = h.login(document, i, getenv)
	})
	if err != nil {
		return nil, err
	}
	return c.withDocker(), nil
}

// ParseOwnedCredentials parses a file of credentials that are for repositories of some owners.
func ParseOwnedCredentials(path string, data []byte, getenv func(string) string) (*OwnedCredentials, error) {
	all, known := &OwnedCredentials{}, map[[2]string]bool{}
	err := parseCredentials(path, data, getenv, func(document *strictyaml.Document, i int, h hostEntry) {
		if len(h.Owners) == 0 {
			document.Fail(hostField(i, "host"), "whose repositories may use these credentials? Give owners, names of users and organizations, or [%q] for all", everybody)
		}
		e := ownedLogin{host: strings.ToLower(h.Host), login: h.login(document, i, getenv)}
		for _, owner := range h.Owners {
			owner = strings.ToLower(owner)
			if known[[2]string{e.host, owner}] {
				document.Fail(hostField(i, "owners"), "%s is there twice for %s", h.Host, owner)
			}
			known[[2]string{e.host, owner}] = true
			e.owners = append(e.owners, owner)
		}
		all.entries = append(all.entries, e)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ParseLogins parses credentials from lines: HOST USERNAME PASSWORD, HOST TOKEN or, for SSH,
// HOST ssh TYPE HOSTKEY KEY, with the private key in base64. Errors do not quote the
// lines.
func ParseLogins(text string) (*Credentials, error) {
	c := &Credentials{hosts: map[string]Login{}}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		host := strings.ToLower(words[0])
		login := c.hosts[host]
		before := login.isHTTP()
		switch {
		case len(words) == 2:
			login.Token = words[1]
		case len(words) == 3:
			login.Username, login.Password = words[1], words[2]
		case len(words) == 5 && words[1] == "ssh":
			before = login.SSH != nil
			var err error
			if login.SSH, err = sshLoginOfLine(words[2]+" "+words[3], words[4]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		default:
			return nil, fmt.Errorf("line %d: want HOST USERNAME PASSWORD, HOST TOKEN or HOST ssh TYPE HOSTKEY KEY, not %d words", i+1, len(words))
		}
		if before || strings.ContainsAny(host, "/@*") {
			return nil, fmt.Errorf("line %d: the first word is no name of a host, or one that is there twice", i+1)
		}
		c.hosts[host] = login
	}
	return c.withDocker(), nil
}

// parseCredentials parses a file of credentials, and calls add for each entry.
func parseCredentials(path string, data []byte, getenv func(string) string, add func(*strictyaml.Document, int, hostEntry)) error {
	document, err := strictyaml.Parse(path, data)
	if err != nil {
		return err
	}
	var f credentialsFile
	_ = document.Decode(&f) // its error is in Err
	for i, h := range f.Hosts {
		h.check(document, i, getenv)
		add(document, i, h)
	}
	return document.Err()
}

// withDocker adds the credentials of docker.io to the host that Docker Hub uses.
func (c *Credentials) withDocker() *Credentials {
	if login, ok := c.hosts["docker.io"]; ok {
		c.hosts[dockerRegistry] = login
	}
	return c
}

// login returns the credentials of an entry.
func (h hostEntry) login(document *strictyaml.Document, i int, getenv func(string) string) Login {
	login := Login{Realms: h.Realms}
	switch {
	case h.TokenEnv != "":
		login.Token = getenv(h.TokenEnv)
	case h.PasswordEnv != "":
		login.Username, login.Password = h.Username, getenv(h.PasswordEnv)
	}
	if h.SSHKeyEnv != "" {
		login.SSH = h.sshLogin(document, i, getenv(h.SSHKeyEnv))
	}
	return login
}

// check reports the mistakes of an entry.
func (h hostEntry) check(document *strictyaml.Document, i int, getenv func(string) string) {
	http := h.PasswordEnv + h.TokenEnv
	switch {
	case h.Host == "" || strings.ContainsAny(h.Host, "/@* "):
		document.Fail(hostField(i, "host"), "%q is no host: want a name, with a port if it is not 443, or 22 for SSH", h.Host)
	case h.PasswordEnv != "" && h.TokenEnv != "", http == "" && h.SSHKeyEnv == "":
		document.Fail(hostField(i, "host"), "give one of passwordEnv and tokenEnv, or sshKeyEnv: the name of a variable of the environment")
	case h.PasswordEnv != "" && h.Username == "":
		document.Fail(hostField(i, "passwordEnv"), "a password needs a username")
	case http != "" && getenv(http) == "":
		document.Fail(hostField(i, "host"), "the variable %s is not set", http)
	}
	h.checkSSH(document, i, getenv)
}
