package webhooks

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// Sources are the sources of a configuration, in order of precedence: flags, the environment,
// the file, the defaults.
type Sources struct {
	// Flags are the values of the flags that were set, by Setting.Flag.
	Flags map[string][]string
	// Getenv returns the value of an environment variable; empty when it is not set.
	Getenv func(name string) string
	// Environ are the names and values of all variables, in the form of os.Environ, to report
	// unknown ones. It may be nil.
	Environ []string
	// File is the name of the configuration file, and Data its content; empty without one.
	File string
	Data []byte
	// Dev is for trying the service: no App is needed, and it is reachable from this machine only.
	Dev bool
}

// ReadConfig returns the configuration from its sources, and checks it. The error has all
// mistakes, each with its flag, variable, or line of the file, and with what is expected.
func ReadConfig(s Sources) (*Config, error) {
	r := read(s)
	return r.config, errors.Join(r.errs...)
}

type configReader struct {
	sources Sources
	config  *Config
	// from is the name of the flag or variable that a key's value comes from, by key.
	from map[string]string
	// document is the configuration file, nil without one.
	document *strictyaml.Document
	errs     []error
	// mistaken are the keys with a reported mistake: one for each is enough.
	mistaken map[string]bool
}

// read does the work of ReadConfig, and keeps the origin of settings.
func read(s Sources) *configReader {
	c := &Config{}
	r := &configReader{
		sources: s, config: c, from: map[string]string{}, mistaken: map[string]bool{},
	}
	settings := Settings(c)
	for _, each := range settings {
		if each.Default != "" {
			_ = each.Set(each.Default) // a test covers all defaults
		}
	}
	whole := r.file()
	for _, each := range settings {
		r.set(each)
	}
	r.environment(settings)
	if whole {
		r.check()
	}
	return r
}

// file reads the file, and reports whether that succeeded: otherwise the settings in it are
// unknown.
func (r *configReader) file() bool {
	if r.sources.File == "" {
		return true
	}
	document, err := strictyaml.Parse(r.sources.File, r.sources.Data)
	if err == nil {
		err = document.Decode(r.config)
	}
	if err != nil {
		r.errs = append(r.errs, err)
		return false
	}
	r.document = document
	for _, s := range Settings(r.config) {
		if s.Flag == "" && document.Has(s.Key) {
			r.fail(s.Key, "a secret does not belong into the configuration: name its file, or set %s", s.Env)
		}
	}
	return true
}

// set sets a setting from its flag or variable, if there is one.
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
			r.fail(s.Key, "%v", err)
		}
	}
}

// fail reports a wrong or missing value at its origin, at most once for each key.
func (r *configReader) fail(key, format string, args ...any) {
	if r.mistaken[key] {
		return
	}
	r.mistaken[key] = true
	message := fmt.Sprintf(format, args...)
	if from := r.from[key]; from != "" {
		r.errs = append(r.errs, fmt.Errorf("%s: %s", from, message))
		return
	}
	if r.document != nil && r.document.Has(key) {
		r.errs = append(r.errs, r.document.Error(key, "%s", message))
		return
	}
	r.errs = append(r.errs, fmt.Errorf("%s: %s", key, message))
}

// serviceLink matches the variables that Kubernetes sets for a Service, which may be named
// preadmit (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
var serviceLink = regexp.MustCompile(`_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)=|_PORT_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?=|_PORT=(tcp|udp|sctp)://`)

// environment reports variables with the prefix of settings that belong to none: they would be
// ignored silently.
func (r *configReader) environment(settings []*Setting) {
	known := map[string]bool{}
	for _, s := range settings {
		known[s.Env] = true
	}
	for _, variable := range r.sources.Environ {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "PREADMIT_") || known[name] || value == "" || serviceLink.MatchString(variable) {
			continue
		}
		r.errs = append(r.errs, fmt.Errorf("%s: no setting has this variable%s", name, nearest(name, settings)))
	}
}

// nearest suggests the variables that share the longest prefix with a name, if there are some.
func nearest(name string, settings []*Setting) string {
	var alike []string
	most := len("PREADMIT_")
	for _, s := range settings {
		n := 0
		for n < min(len(name), len(s.Env)) && name[n] == s.Env[n] {
			n++
		}
		if n > most {
			most, alike = n, nil
		}
		if n == most && n > len("PREADMIT_") {
			alike = append(alike, s.Env)
		}
	}
	if len(alike) == 0 {
		return "; preadmit serve --help lists them"
	}
	return "; is it " + strings.Join(alike, ", ") + "?"
}
