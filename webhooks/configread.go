package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner"
)

// Sources are where a configuration comes from, the strongest first: flags, the
// environment, the file, the defaults.
type Sources struct {
	// Flags are the values of the flags that were given, by Setting.Flag.
	Flags map[string][]string
	// Getenv looks up an environment variable; empty when it is not set.
	Getenv func(name string) string
	// File names the configuration file, whose content is Data; empty without one.
	File string
	Data []byte
	// Dev is for trying: no App is needed, and only this machine may reach the service.
	Dev bool
}

// ReadConfig puts a configuration together and checks it. All mistakes are told, each
// with the flag, the variable, or the line of the file that has it, and what would be
// right.
func ReadConfig(s Sources) (*Config, error) {
	c := &Config{}
	r := &configReader{sources: s, config: c, from: map[string]string{}, wrong: func(string, string) error { return nil }}
	settings := Settings(c)
	for _, each := range settings {
		if each.Default != "" {
			_ = each.Set(each.Default) // a test sets all of them
		}
	}
	if err := r.file(); err != nil {
		return nil, err
	}
	for _, each := range settings {
		r.set(each)
	}
	if len(r.errs) == 0 {
		r.check()
	}
	return c, errors.Join(r.errs...)
}

type configReader struct {
	sources Sources
	config  *Config
	// from names the flag or variable that a key's value is from.
	from  map[string]string
	wrong func(key, message string) error
	errs  []error
}

func (r *configReader) file() (err error) {
	if r.sources.File == "" {
		return nil
	}
	if r.wrong, err = scanner.DecodeConfig(r.sources.File, r.sources.Data, r.config); err != nil {
		return err
	}
	for _, s := range Settings(r.config) {
		if err := r.wrong(s.Key, "a secret does not belong into the configuration: name its file, or set "+s.Env); err != nil && s.Flag == "" {
			r.errs = append(r.errs, err)
		}
	}
	return nil
}

// set takes a setting's value from the flag or the variable, if there is one.
func (r *configReader) set(s *Setting) {
	values, given := r.sources.Flags[s.Flag]
	name := "--" + s.Flag
	if !given || s.Flag == "" {
		text := r.sources.Getenv(s.Env)
		if text == "" {
			return
		}
		name, values = s.Env, []string{text}
		if s.Repeatable {
			values = strings.Split(text, ",")
		}
	}
	r.from[s.Key] = name
	s.clear()
	for _, v := range values {
		if err := s.Set(v); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
		}
	}
}

// fail tells of a value, or of one that is missing, where it was given.
func (r *configReader) fail(key, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if from := r.from[key]; from != "" {
		r.errs = append(r.errs, fmt.Errorf("%s: %s", from, message))
		return
	}
	if err := r.wrong(key, message); err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.errs = append(r.errs, fmt.Errorf("%s: %s", key, message))
}

func (r *configReader) check() {
	c := r.config
	r.choice("forks", c.Forks, "on", "off", "approve")
	r.choice("pages.access", c.Pages.Access, "github", "proxy")
	r.choice("scan.jail", c.Scan.Jail, "required", "best-effort")
	r.choice("log.level", c.Log.Level, "debug", "info", "warn", "error")
	r.choice("log.format", c.Log.Format, "json", "text")
	r.address("listen", c.Listen)
	if c.MetricsListen != "" {
		r.address("metricsListen", c.MetricsListen)
	}
	r.url("publicURL", c.PublicURL)
	r.url("github.url", c.GitHub.URL)
	r.url("github.apiURL", c.GitHub.APIURL)
	r.positive()
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
	host, _, err := net.SplitHostPort(got)
	if err != nil {
		r.fail(key, "%q: want host:port, like 127.0.0.1:8080 or :8080", got)
		return
	}
	if ip, err := netip.ParseAddr(host); r.sources.Dev && host != "localhost" && (err != nil || !ip.IsLoopback()) {
		r.fail(key, "%q: with --dev the service has no secrets to protect it and listens on 127.0.0.1, ::1 or localhost only", got)
	}
}

func (r *configReader) url(key, got string) {
	if got == "" {
		return
	}
	u, err := url.Parse(got)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.fail(key, "%q: want a URL like https://preadmit.example.com", got)
	}
}

// positive checks what a service cannot do without.
func (r *configReader) positive() {
	c := r.config
	for _, n := range []struct {
		key   string
		value int64
		least int64
	}{
		{"nats.replicas", int64(c.NATS.Replicas), 0},
		{"queue.lease", int64(c.Queue.Lease), 1},
		{"queue.attempts", int64(c.Queue.Attempts), 1},
		{"queue.perInstallation", int64(c.Queue.PerInstallation), 0},
		{"keep.age", int64(c.Keep.Age), 1},
		{"keep.scans", int64(c.Keep.Scans), 1},
		{"keep.size", int64(c.Keep.Size), 1},
		{"scan.concurrency", int64(c.Scan.Concurrency), 1},
		{"scan.workers", int64(c.Scan.Workers), 0},
		{"scan.memory", int64(c.Scan.Memory), 1},
		{"scan.timeout", int64(c.Scan.Timeout), 1},
		{"fetch.size", int64(c.Fetch.Size), 1},
		{"fetch.objects", int64(c.Fetch.Objects), 1},
		{"fetch.timeout", int64(c.Fetch.Timeout), 1},
	} {
		if n.value < n.least {
			r.fail(n.key, "must be at least %d", n.least)
		}
	}
	for _, text := range []struct{ key, value string }{{"dataDir", c.DataDir}, {"checkName", c.CheckName}} {
		if text.value == "" {
			r.fail(text.key, "must not be empty")
		}
	}
}

// app checks that there is an App. With --dev there need not be one: /setup makes it.
func (r *configReader) app() {
	a := r.config.App
	if r.sources.Dev && a == (AppConfig{}) {
		return
	}
	if a.ID <= 0 {
		r.fail("app.id", "the ID of the GitHub App is needed: it is on the App's settings page. Without an App, start with --dev and open /setup")
	}
	for _, s := range []struct {
		key, file, text string
	}{
		{"app.privateKey", a.PrivateKeyFile, a.PrivateKey},
		{"app.webhookSecret", a.WebhookSecretFile, a.WebhookSecret},
	} {
		switch {
		case s.file == "" && s.text == "":
			r.fail(s.key+"File", "is needed: generate one on the App's settings page and name its file here, or set %s", envOf(s.key))
		case s.file != "" && s.text != "":
			r.fail(s.key+"File", "is given beside %s: give one of them", envOf(s.key))
		}
	}
	if (a.ClientID == "") != (a.ClientSecretFile == "" && a.ClientSecret == "") {
		r.fail("app.clientID", "and app.clientSecretFile (or %s) belong together", envOf("app.clientSecret"))
	}
}

func (r *configReader) pages() {
	c := r.config
	if c.PublicURL == "" && !r.sources.Dev {
		r.fail("publicURL", "is needed: check runs and comments link to the pages, like https://preadmit.example.com")
	}
	for i, cidr := range c.Pages.TrustedProxies {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			r.fail("pages.trustedProxies", "%q (number %d): want addresses like 10.0.0.0/8 or 127.0.0.1/32", cidr, i+1)
		}
	}
	proxy := c.Pages.Access == "proxy"
	if proxy && c.Pages.Header == "" {
		r.fail("pages.header", "is needed with pages.access: proxy, like X-Forwarded-User")
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
