package config

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact/permit"
	"github.com/preadmit/preadmit/report"
)

// LoadRestrictors returns the values that Config.LoadRestrictor may have.
func LoadRestrictors() []string {
	return []string{string(render.LoadRestrictionsNone), string(render.LoadRestrictionsRootOnly)}
}

// Appliers returns the values that Config.Applier may have.
func Appliers() []string {
	return []string{"flux", "argocd", "argocd-ssa", "kubectl", "kubectl-ssa", "replace"}
}

// CheckNodePorts returns an error if a text is not a range of ports.
func CheckNodePorts(ports string) error {
	if _, err := utilnet.ParsePortRange(ports); err != nil {
		return fmt.Errorf("%q: want a range of ports, like 30000-32767", ports)
	}
	return nil
}

// NodePorts returns the range of ServiceNodePortRange; nil for the default.
func (c *Config) NodePorts() *utilnet.PortRange {
	ports, err := utilnet.ParsePortRange(c.ServiceNodePortRange)
	if err != nil || c.ServiceNodePortRange == "" {
		return nil
	}
	return ports
}

// checker adds errors for values that have the right type but are invalid. It adds none for a field
// that could not be decoded.
type checker struct{ *strictyaml.Document }

func (c *checker) config(config *Config) {
	c.constant("apiVersion", config.APIVersion, report.APIVersion)
	c.constant("kind", config.Kind, Kind)
	c.choice("failOn", config.FailOn, report.FailOnValues())
	c.choice("loadRestrictor", config.LoadRestrictor, LoadRestrictors())
	c.choice("applier", config.Applier, Appliers())
	if key := "serviceNodePortRange"; c.Has(key) && !c.Failed(key) {
		if err := CheckNodePorts(config.ServiceNodePortRange); err != nil {
			c.Fail(key, "%v", err)
		}
	}
	c.version("kubernetesVersion", config.KubernetesVersion)
	c.runtimeConfig("runtimeConfig", config.RuntimeConfig)
	c.globs("roots", config.Roots)
	c.paths("policies", config.Policies)
	c.paths("context", config.Context)
	c.user("user", config.User)
	c.paths("entries", config.Entries)
	c.self("self", config.Self)
	c.sourcePaths("sourcePaths", config.SourcePaths)
	c.argocd(config.ArgoCD)
	c.choice("unclaimed", config.Unclaimed, UnclaimedValues())
	c.urls("artifacts.allow", config.AllowedURLs())
	c.crds(config.CRDs)
	c.charts(config.Charts)
	names := map[string]int{}
	for i := range config.Targets {
		c.target(fmt.Sprintf("targets[%d]", i), &config.Targets[i], names)
	}
}

func (c *checker) constant(key, got, want string) {
	switch {
	case got == want || c.Failed(key) || c.Failed(""):
	case !c.Has(key):
		c.Fail(key, "required: %s", want)
	default:
		c.Fail(key, "want %s, not %q", want, got)
	}
}

func (c *checker) choice(key, got string, known []string) {
	if !c.Has(key) || c.Failed(key) || slices.Contains(known, got) {
		return
	}
	c.Fail(key, "unknown value %q%s", got, strictyaml.Suggestion(got, known))
}

func (c *checker) globs(key string, globs []string) {
	for i, glob := range globs {
		at := fmt.Sprintf("%s[%d]", key, i)
		if err := CheckGlob(glob); err != nil && !c.Failed(at) {
			c.Fail(at, "%v", err)
		}
	}
}

func (c *checker) urls(key string, patterns []string) {
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s[%d]", key, i)
		if _, err := permit.ParsePattern(pattern); err != nil && !c.Failed(at) {
			c.Fail(at, "%v", err)
		}
	}
}

func (c *checker) paths(key string, paths []string) {
	for i, p := range paths {
		c.path(fmt.Sprintf("%s[%d]", key, i), p, ", or use the flag")
	}
}

// path adds an error if p is not a path in the repository; or is appended to its message, as an
// alternative.
func (c *checker) path(at, p, or string) {
	switch clean := path.Clean(p); {
	case c.Failed(at):
	case p == "":
		c.Fail(at, "empty path")
	case path.IsAbs(p), clean == "..", strings.HasPrefix(clean, "../"):
		c.Fail(at, "%q is outside the repository: give a path relative to its top%s", p, or)
	}
}

func (c *checker) sourcePaths(key string, paths map[string]string) {
	if c.Failed(key) {
		return
	}
	for _, source := range slices.Sorted(maps.Keys(paths)) {
		if !sourceName.MatchString(source) {
			c.Fail(key, "%q is not a source of Flux: want KIND/NAMESPACE/NAME, as OCIRepository/flux-system/flux-system", source)
		}
		c.path(key+"."+source, paths[source], "")
	}
}

// self adds an error for each entry that is neither the name of a source nor a URL, and would match
// nothing.
func (c *checker) self(key string, sources []string) {
	for i, source := range sources {
		at := fmt.Sprintf("%s[%d]", key, i)
		if !c.Failed(at) && !sourceName.MatchString(source) && !repositoryURL.MatchString(source) {
			c.Fail(at, "%q is neither a source of Flux nor a URL: want KIND/NAMESPACE/NAME, as GitRepository/flux-system/fleet, or one like https://HOST/PATH", source)
		}
	}
}

// repositoryURL matches a URL: with a scheme, as HOST:PATH of SSH, or as HOST/PATH.
var repositoryURL = regexp.MustCompile(`^([a-z0-9+]+://[^/]+/.+|[^/:]+:[^/].*|[^/:]+\.[^/:]+(:[0-9]+)?/.+)$`)

// sourceName matches KIND/NAMESPACE/NAME of a Flux source with files.
var sourceName = regexp.MustCompile(`^(GitRepository|OCIRepository|Bucket)/[^/]+/[^/]+$`)

func (c *checker) user(key string, u *User) {
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

func (c *checker) target(key string, t *Target, names map[string]int) {
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
	c.namespace(key+".namespace", t.Namespace)
	c.version(key+".kubernetesVersion", t.KubernetesVersion)
	c.runtimeConfig(key+".runtimeConfig", t.RuntimeConfig)
	for i, kind := range t.Complete {
		if at := fmt.Sprintf("%s.complete[%d]", key, i); !kindName.MatchString(kind) && !c.Failed(at) {
			c.Fail(at, "%q is not a kind: want KIND, or KIND.GROUP for a group other than the core one", kind)
		}
	}
}

// kindName matches KIND or KIND.GROUP.
var kindName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9-]+)*$`)

func (c *checker) namespace(key, name string) {
	if !c.Has(key) || c.Failed(key) {
		return
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		c.Fail(key, "%q is not the name of a namespace: %s", name, problems[0])
	}
}

func (c *checker) targetName(key, name string, names map[string]int) {
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
