package webhooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

func (r *configReader) check() {
	c := r.config
	r.choice("forks", c.Forks, "on", "off", "approve")
	r.choice("pages.access", c.Pages.Access, "github", "proxy")
	r.choice("playground.access", c.Playground.Access, "off", playgroundPublic)
	r.choice("artifacts.fetch", c.Artifacts.Fetch, fetchLocked, "off")
	r.choice("scan.jail", c.Scan.Jail, "required", jailBestEffort)
	r.choice("log.level", c.Log.Level, "debug", "info", "warn", "error")
	r.choice("log.format", c.Log.Format, "json", "text")
	r.address("listen", c.Listen)
	if c.MetricsListen != "" {
		r.address("metricsListen", c.MetricsListen)
	}
	if c.Listen == c.MetricsListen && !strings.HasSuffix(c.Listen, ":0") {
		r.fail("metricsListen", "%q is the address of listen: give another, or none", c.MetricsListen)
	}
	r.url("publicURL", c.PublicURL)
	r.url("github.url", c.GitHub.URL)
	r.url("github.apiURL", c.GitHub.APIURL)
	r.nats()
	r.hosts()
	r.bounds()
	r.app()
	r.pages()
	r.tokens()
}

func (r *configReader) choice(key, got string, known ...string) {
	if !slices.Contains(known, got) {
		r.fail(key, "%q: want one of %s", got, strings.Join(known, ", "))
	}
}

func (r *configReader) address(key, got string) {
	host, port, err := net.SplitHostPort(got)
	if err != nil {
		r.fail(key, "%q: want host:port, like 127.0.0.1:8080 or :8080", got)
		return
	}
	if !isPort(port) {
		r.fail(key, "%q: want a port up to 65535, like %s", got, net.JoinHostPort(host, "8080"))
	}
	if ip, err := netip.ParseAddr(host); r.sources.Dev && host != "localhost" && (err != nil || !ip.IsLoopback()) {
		r.fail(key, "%q: with --dev the service has no secrets to protect it and listens on 127.0.0.1, ::1 or localhost only", got)
	}
}

// isPort reports whether a text is the number or the name of a port.
func isPort(text string) bool {
	_, err := net.LookupPort("tcp", text)
	return err == nil
}

func (r *configReader) url(key, got string) {
	if got == "" {
		return
	}
	u, err := url.Parse(got)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.fail(key, "%q: want a URL like %s", got, map[string]string{
			"publicURL": "https://preadmit.example.com", "github.url": "https://github.example.com", "github.apiURL": "https://github.example.com/api/v3/",
		}[key])
		return
	}
	if key != "github.apiURL" && strings.Trim(u.Path, "/") != "" {
		r.fail(key, "%q must have no path: want %s://%s", got, u.Scheme, u.Host)
	}
}

// nats checks the URLs of an external NATS, and that its other settings have a URL.
func (r *configReader) nats() {
	c := r.config.NATS
	if c.URL == "" {
		for _, s := range []struct {
			key   string
			given bool
		}{{"nats.credentialsFile", c.CredentialsFile != ""}, {"nats.caFile", c.CAFile != ""}, {"nats.replicas", c.Replicas > 1}} {
			if s.given {
				r.fail(s.key, "is for an external NATS: give nats.url as well, or leave this out")
			}
		}
		return
	}
	for _, each := range strings.Split(c.URL, ",") {
		text := strings.TrimSpace(each)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		switch u, err := url.Parse(text); {
		case err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "" || !isPort(cmp.Or(u.Port(), "4222")):
			// Not quoted: an invalid URL may contain a password anywhere.
			r.fail("nats.url", "want URLs like nats://nats-0.nats:4222 or tls://nats.example.com, separated by commas")
		case u.User != nil && r.from["nats.url"] != envOf("nats.url"):
			r.fail("nats.url", "has a user or token, and a secret does not belong here: name a file in nats.credentialsFile, or set %s", envOf("nats.url"))
		}
	}
}

// hosts checks the names of hosts that artifacts may be fetched from.
func (r *configReader) hosts() {
	for _, host := range r.config.Artifacts.PrivateHosts {
		if host == "" || strings.ContainsAny(host, "/@* ") {
			r.fail("artifacts.privateHosts", "%q is no host: want a name, with a port if it is not 443", host)
		}
	}
}

// leastScans is the minimum of keep.scans: enough for the verdicts on all pull requests with one
// head, which share a check run. If some of these were removed, the pull requests would cause
// scans of each other again and again.
const leastScans = 1000

// bounds checks numbers, times and sizes, and what must not be empty.
func (r *configReader) bounds() {
	c := r.config
	for _, n := range []struct {
		key          string
		value, least int64
		want         string
	}{
		{"nats.replicas", int64(c.NATS.Replicas), 0, "0 or more"},
		{"queue.lease", int64(c.Queue.Lease), int64(time.Second), "1s or more"},
		{"queue.attempts", int64(c.Queue.Attempts), 1, "at least 1"},
		{"queue.perInstallation", int64(c.Queue.PerInstallation), 0, "0 or more"},
		{"keep.age", int64(c.Keep.Age), 1, "more than 0"},
		{"keep.scans", int64(c.Keep.Scans), leastScans, fmt.Sprintf("at least %d", leastScans)},
		{"keep.size", int64(c.Keep.Size), 1, "more than 0"},
		{"scan.concurrency", int64(c.Scan.Concurrency), 1, "at least 1"},
		{"playground.processes", int64(c.Playground.Processes), 1, "at least 1"},
		{"playground.memory", int64(c.Playground.Memory), 256 << 20, "at least 256Mi, which judging takes"},
		{"scan.workers", int64(c.Scan.Workers), 0, "0 or more"},
		{"scan.memory", int64(c.Scan.Memory), 64 << 20, "64Mi or more"}, // no scan succeeds with less
		{"scan.timeout", int64(c.Scan.Timeout), 1, "more than 0"},
		{"fetch.size", int64(c.Fetch.Size), 1, "more than 0"},
		{"fetch.objects", int64(c.Fetch.Objects), 1, "at least 1"},
		{"fetch.timeout", int64(c.Fetch.Timeout), 1, "more than 0"},
		{"artifacts.size", int64(c.Artifacts.Size), 1 << 20, "1Mi or more"},
		{"artifacts.timeout", int64(c.Artifacts.Timeout), 1, "more than 0"},
	} {
		if n.value < n.least {
			r.fail(n.key, "must be %s", n.want)
		}
	}
	for _, text := range []struct{ key, value string }{{"dataDir", c.DataDir}, {"checkName", c.CheckName}} {
		if text.value == "" {
			r.fail(text.key, "must not be empty")
		}
	}
}

// app checks the App's settings. With --dev there may be none: /setup creates an App.
func (r *configReader) app() {
	a := r.config.App
	if r.sources.Dev && a == (AppConfig{}) {
		return
	}
	if a.ID <= 0 {
		r.fail("app.id", "the ID of the GitHub App is needed: it is on the App's settings page. Without an App, start with --dev and open /setup")
	}
	for _, s := range []struct {
		key, file, text, fix string
	}{
		{"app.privateKey", a.PrivateKeyFile, a.PrivateKey, "generate one on the App's settings page"},
		{"app.webhookSecret", a.WebhookSecretFile, a.WebhookSecret, "set one on the App's settings page"},
		{"app.clientSecret", a.ClientSecretFile, a.ClientSecret, ""},
	} {
		switch {
		case s.file == "" && s.text == "" && s.fix != "":
			r.fail(s.key+"File", "is needed: %s and name its file here, or set %s", s.fix, envOf(s.key))
		case s.file != "" && s.text != "":
			r.fail(s.key+"File", "is given beside %s: give one of them", envOf(s.key))
		}
	}
	switch secret := a.ClientSecretFile != "" || a.ClientSecret != ""; {
	case secret && a.ClientID == "":
		r.fail("app.clientID", "is needed beside the client secret: it is on the App's settings page")
	case !secret && a.ClientID != "":
		r.fail("app.clientSecretFile", "is needed beside app.clientID: generate a client secret on the App's settings page and name its file here, or set %s", envOf("app.clientSecret"))
	}
}

// headerName matches the name of a header, a token of RFC 9110, or an empty text.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]*$")

func (r *configReader) pages() {
	c := r.config
	if c.PublicURL == "" && !r.sources.Dev {
		r.fail("publicURL", "is needed: check runs and comments link to the pages, like https://preadmit.example.com")
	}
	var bad []string
	for i, cidr := range c.Pages.TrustedProxies {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			bad = append(bad, fmt.Sprintf("%q (number %d)", cidr, i+1))
		}
	}
	if len(bad) > 0 {
		r.fail("pages.trustedProxies", "%s: want addresses like 10.0.0.0/8 or 127.0.0.1/32", strings.Join(bad, ", "))
	}
	proxy := c.Pages.Access == "proxy"
	if u, err := url.Parse(c.PublicURL); !proxy && !r.sources.Dev && err == nil && u.Scheme == "http" && !loopbackHost(u.Host) {
		r.fail("publicURL", "%q: want https, by which a proxy or Ingress in front is reached: people log in to the pages", c.PublicURL)
	}
	if proxy && c.Pages.Header == "" {
		r.fail("pages.header", "is needed with pages.access: proxy, like X-Forwarded-User")
	}
	if !headerName.MatchString(c.Pages.Header) {
		r.fail("pages.header", "%q: want the name of a header, like X-Forwarded-User", c.Pages.Header)
	}
	if proxy && len(c.Pages.TrustedProxies) == 0 {
		r.fail("pages.trustedProxies", "is needed with pages.access: proxy: anybody else could send the header")
	}
	if !proxy && !r.sources.Dev && c.App.ClientID == "" {
		r.fail("app.clientID", "is needed with pages.access: github, which logs in by the App; it is on the App's settings page")
	}
}

func (r *configReader) tokens() {
	seen := map[string]bool{}
	for i, t := range r.config.API.Tokens {
		key := fmt.Sprintf("api.tokens[%d]", i)
		switch hash, err := hex.DecodeString(t.SHA256); {
		case t.Name == "" || seen[t.Name]:
			r.fail(key+".name", "want a name that no other token has")
		case err != nil || len(hash) != sha256.Size:
			r.fail(key+".sha256", "want the SHA-256 of the token in 64 hex digits: printf %%s \"$TOKEN\" | sha256sum")
		}
		seen[t.Name] = true
		for j, name := range t.Repositories {
			if owner, repo, ok := strings.Cut(name, "/"); !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
				r.fail(fmt.Sprintf("%s.repositories[%d]", key, j), "%q: want owner/name", name)
			}
		}
	}
}
