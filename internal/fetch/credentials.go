package fetch

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// Credentials are those of hosts. A nil value has none.
type Credentials struct{ hosts map[string]Login }

// Login is how a host knows us.
type Login struct {
	// Username and Password are sent as they are; Token is sent as a bearer's, instead of them.
	Username, Password, Token string
	// Realms are other hosts that give out tokens for this one, a registry.
	Realms []string
}

// set authorizes a request.
func (l Login) set(req *http.Request) {
	if l.Token != "" {
		req.Header.Set("Authorization", "Bearer "+l.Token)
		return
	}
	req.SetBasicAuth(l.Username, l.Password)
}

// of returns the credentials of a host.
func (c *Credentials) of(host string) (Login, bool) {
	if c == nil {
		return Login{}, false
	}
	login, ok := c.hosts[strings.ToLower(strings.TrimSuffix(host, ":443"))]
	return login, ok
}

// registryKey is the key of the registry, in a context, that a client of registries talks to.
type registryKey struct{}

// mayGet reports whether a host may get the credentials of the registry that is talked to: it
// is the registry, or gives out its tokens.
func (c *Credentials) mayGet(ctx context.Context, host string) bool {
	registry, _ := ctx.Value(registryKey{}).(string)
	if registry == "" {
		return false
	}
	login, _ := c.of(registry)
	return host == registry || registry == dockerRegistry && host == dockerRealm || slices.Contains(login.Realms, host)
}

// Docker Hub gives out its tokens at another host.
const (
	dockerRegistry = "registry-1.docker.io"
	dockerRealm    = "auth.docker.io"
)

// credentialsFile is the file of --credentials.
type credentialsFile struct {
	Hosts []hostEntry `json:"hosts"`
}

type hostEntry struct {
	Host        string   `json:"host"`
	Username    string   `json:"username,omitempty"`
	PasswordEnv string   `json:"passwordEnv,omitempty"`
	TokenEnv    string   `json:"tokenEnv,omitempty"`
	Realms      []string `json:"realms,omitempty"`
}

// ParseCredentials reads which hosts have which credentials. The file names variables of the
// environment, which have the secrets. The path is used in messages only.
func ParseCredentials(path string, data []byte, getenv func(string) string) (*Credentials, error) {
	document, err := strictyaml.Parse(path, data)
	if err != nil {
		return nil, err
	}
	var f credentialsFile
	_ = document.Decode(&f) // Err has what is wrong
	c := &Credentials{hosts: map[string]Login{}}
	for i, h := range f.Hosts {
		h.check(document, i, getenv)
		host := strings.ToLower(h.Host)
		if _, ok := c.hosts[host]; ok {
			document.Fail(hostField(i, "host"), "%s is there twice", h.Host)
		}
		c.hosts[host] = h.login(getenv)
	}
	if err := document.Err(); err != nil {
		return nil, err
	}
	if login, ok := c.hosts["docker.io"]; ok {
		c.hosts[dockerRegistry] = login
	}
	return c, nil
}

// login returns what an entry names.
func (h hostEntry) login(getenv func(string) string) Login {
	if h.TokenEnv != "" {
		return Login{Token: getenv(h.TokenEnv), Realms: h.Realms}
	}
	return Login{Username: h.Username, Password: getenv(h.PasswordEnv), Realms: h.Realms}
}

// check fails what is wrong with an entry.
func (h hostEntry) check(document *strictyaml.Document, i int, getenv func(string) string) {
	switch {
	case h.Host == "" || strings.ContainsAny(h.Host, "/@* "):
		document.Fail(hostField(i, "host"), "%q is no host: want a name, with a port if it is not 443", h.Host)
	case (h.PasswordEnv == "") == (h.TokenEnv == ""):
		document.Fail(hostField(i, "host"), "give one of passwordEnv and tokenEnv: the name of a variable of the environment")
	case h.PasswordEnv != "" && h.Username == "":
		document.Fail(hostField(i, "passwordEnv"), "a password needs a username")
	case getenv(h.PasswordEnv+h.TokenEnv) == "":
		document.Fail(hostField(i, "host"), "the variable %s is not set", h.PasswordEnv+h.TokenEnv)
	}
}
