package scanner

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// FailOnValues are what Config.FailOn may say, from strict to lax but for
// indeterminate, which asks for more than any action.
func FailOnValues() []string { return []string{"deny", "warn", "audit", "indeterminate", "never"} }

// LoadRestrictors are what Config.LoadRestrictor may say.
func LoadRestrictors() []string {
	return []string{string(render.LoadRestrictionsNone), string(render.LoadRestrictionsRootOnly)}
}

// check reports what is well-formed and still means nothing.
func (d *configDecoder) check(c *Config) {
	d.constant("apiVersion", c.APIVersion, APIVersion)
	d.constant("kind", c.Kind, ConfigKind)
	d.choice("failOn", c.FailOn, FailOnValues())
	d.choice("loadRestrictor", c.LoadRestrictor, LoadRestrictors())
	d.globs("roots", c.Roots)
	d.paths("policies", c.Policies)
	d.paths("context", c.Context)
	d.user("user", c.User)
	names := map[string]int{}
	for i := range c.Targets {
		d.target(fmt.Sprintf("targets[%d]", i), &c.Targets[i], names)
	}
}

// written reports whether the file says anything, of the right type or not, in the
// field key. Of a wrong type decode has spoken already.
func (d *configDecoder) written(key string) bool { return d.nodes[key] != nil }

// typeError reports whether the decoder has complained about key already.
func (d *configDecoder) typeError(key string) bool {
	return slices.ContainsFunc(d.errs, func(e *ConfigError) bool { return e.Key == key })
}

func (d *configDecoder) constant(key, got, want string) {
	switch {
	case got == want || d.typeError(key) || d.typeError(""):
	case !d.written(key):
		d.fail(key, "required: %s", want)
	default:
		d.fail(key, "want %s, not %q", want, got)
	}
}

func (d *configDecoder) choice(key, got string, known []string) {
	if !d.written(key) || d.typeError(key) || slices.Contains(known, got) {
		return
	}
	d.fail(key, "unknown value %q%s", got, suggestion(got, known))
}

func (d *configDecoder) globs(key string, globs []string) {
	for i, glob := range globs {
		at := fmt.Sprintf("%s[%d]", key, i)
		if err := CheckGlob(glob); err != nil && !d.typeError(at) {
			d.fail(at, "%v", err)
		}
	}
}

func (d *configDecoder) paths(key string, paths []string) {
	for i, p := range paths {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch clean := path.Clean(p); {
		case d.typeError(at):
		case p == "":
			d.fail(at, "empty path")
		case path.IsAbs(p), clean == "..", strings.HasPrefix(clean, "../"):
			d.fail(at, "%q is outside the repository: give a path relative to its top, or use the flag", p)
		}
	}
}

func (d *configDecoder) user(key string, u *User) {
	if u == nil || d.typeError(key) {
		return
	}
	if u.Name == "" && !d.typeError(key+".name") {
		d.fail(key+".name", "required: the name of the user who applies the objects")
	}
	for i, group := range u.Groups {
		at := fmt.Sprintf("%s.groups[%d]", key, i)
		if group == "" && !d.typeError(at) {
			d.fail(at, "empty group")
		}
	}
}

func (d *configDecoder) target(key string, t *Target, names map[string]int) {
	if d.typeError(key) {
		return
	}
	d.targetName(key+".name", t.Name, names)
	if len(t.Roots) == 0 && !d.typeError(key+".roots") {
		d.fail(key+".roots", "required: globs of the roots that are deployed to this target")
	}
	d.globs(key+".roots", t.Roots)
	d.paths(key+".policies", t.Policies)
	d.paths(key+".context", t.Context)
	d.user(key+".user", t.User)
}

func (d *configDecoder) targetName(key, name string, names map[string]int) {
	switch line, repeated := names[name]; {
	case d.typeError(key):
	case name == "":
		d.fail(key, "required: a name for this target")
	case repeated:
		d.fail(key, "repeated name %q, first on line %d", name, line)
	default:
		names[name] = d.nodes[key].Line
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
