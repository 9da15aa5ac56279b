package scanner

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
)

// LoadRestrictors are what Config.LoadRestrictor may say.
func LoadRestrictors() []string {
	return []string{string(render.LoadRestrictionsNone), string(render.LoadRestrictionsRootOnly)}
}

// configCheck records values that have the right type and still mean nothing. Of a
// field that could not be decoded it says no more.
type configCheck struct{ *strictyaml.Document }

func (c *configCheck) config(config *Config) {
	c.constant("apiVersion", config.APIVersion, report.APIVersion)
	c.constant("kind", config.Kind, ConfigKind)
	c.choice("failOn", config.FailOn, report.FailOnValues())
	c.choice("loadRestrictor", config.LoadRestrictor, LoadRestrictors())
	c.globs("roots", config.Roots)
	c.paths("policies", config.Policies)
	c.paths("context", config.Context)
	c.user("user", config.User)
	names := map[string]int{}
	for i := range config.Targets {
		c.target(fmt.Sprintf("targets[%d]", i), &config.Targets[i], names)
	}
}

func (c *configCheck) constant(key, got, want string) {
	switch {
	case got == want || c.Failed(key) || c.Failed(""):
	case !c.Has(key):
		c.Fail(key, "required: %s", want)
	default:
		c.Fail(key, "want %s, not %q", want, got)
	}
}

func (c *configCheck) choice(key, got string, known []string) {
	if !c.Has(key) || c.Failed(key) || slices.Contains(known, got) {
		return
	}
	c.Fail(key, "unknown value %q%s", got, strictyaml.Suggestion(got, known))
}

func (c *configCheck) globs(key string, globs []string) {
	for i, glob := range globs {
		at := fmt.Sprintf("%s[%d]", key, i)
		if err := CheckGlob(glob); err != nil && !c.Failed(at) {
			c.Fail(at, "%v", err)
		}
	}
}

func (c *configCheck) paths(key string, paths []string) {
	for i, p := range paths {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch clean := path.Clean(p); {
		case c.Failed(at):
		case p == "":
			c.Fail(at, "empty path")
		case path.IsAbs(p), clean == "..", strings.HasPrefix(clean, "../"):
			c.Fail(at, "%q is outside the repository: give a path relative to its top, or use the flag", p)
		}
	}
}

func (c *configCheck) user(key string, u *User) {
	if u == nil || c.Failed(key) {
		return
	}
	if u.Name == "" && !c.Failed(key+".name") {
		c.Fail(key+".name", "required: the name of the user who applies the objects")
	}
	for i, group := range u.Groups {
		at := fmt.Sprintf("%s.groups[%d]", key, i)
		if group == "" && !c.Failed(at) {
			c.Fail(at, "empty group")
		}
	}
}

func (c *configCheck) target(key string, t *Target, names map[string]int) {
	if c.Failed(key) {
		return
	}
	c.targetName(key+".name", t.Name, names)
	if len(t.Roots) == 0 && !c.Failed(key+".roots") {
		c.Fail(key+".roots", "required: globs of the roots that are deployed to this target")
	}
	c.globs(key+".roots", t.Roots)
	c.paths(key+".policies", t.Policies)
	c.paths(key+".context", t.Context)
	c.user(key+".user", t.User)
}

func (c *configCheck) targetName(key, name string, names map[string]int) {
	switch line, repeated := names[name]; {
	case c.Failed(key):
	case name == "":
		c.Fail(key, "required: a name for this target")
	case repeated:
		c.Fail(key, "repeated name %q, first on line %d", name, line)
	default:
		names[name] = c.Line(key)
	}
}

// CheckGlob says what is wrong with a glob that chooses roots: slash-separated,
// relative to the top of the tree, with path.Match's syntax within a directory
// name and ** for any number of directories.
func CheckGlob(glob string) error {
	if glob == "" {
		return errors.New("empty glob")
	}
	if path.IsAbs(glob) {
		return fmt.Errorf("glob %q is absolute: roots are relative to the top of the repository", glob)
	}
	for _, segment := range strings.Split(glob, "/") {
		if segment == ".." {
			return fmt.Errorf("glob %q leaves the repository", glob)
		}
		if _, err := path.Match(segment, ""); err != nil {
			return fmt.Errorf("invalid glob %q: syntax error in %q", glob, segment)
		}
	}
	return nil
}
