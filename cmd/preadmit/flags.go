package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner/config"
)

// choice is a flag whose value is one of a few words.
type choice struct {
	value string
	known []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.known, "|") }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.known, value) {
		return fmt.Errorf("want one of %s", strings.Join(c.known, ", "))
	}
	c.value = value
	return nil
}

// words is a repeatable flag whose values may contain commas, as globs do.
type words struct {
	values []string
	kind   string
}

func (w *words) String() string         { return strings.Join(w.values, " ") }
func (w *words) Type() string           { return w.kind }
func (w *words) Set(value string) error { w.values = append(w.values, value); return nil }

// scanFlags are the flags of preadmit scan.
type scanFlags struct {
	path                 string // the positional argument
	base, head, basePath string
	policies, context    words
	as                   string
	asGroups             words
	failOn               choice
	existing, diff       bool
	format               choice
	outputs              words
	roots                words
	loadRestrictor       choice
	noWorkloads          bool
	color                choice
	config               string
	cache                cacheFlags
	limits               scanLimits
	verbose, quiet       bool
	// given reports whether a flag is on the command line.
	given func(name string) bool
}

func newScanFlags() *scanFlags {
	return &scanFlags{
		path:     ".",
		policies: words{kind: "PATH"}, context: words{kind: "FILE"},
		asGroups: words{kind: "GROUP"}, outputs: words{kind: "[FORMAT=]FILE"}, roots: words{kind: "GLOB"},
		failOn:         choice{value: "deny", known: report.FailOnValues()},
		format:         choice{value: "text", known: format.Formats()},
		loadRestrictor: choice{value: config.LoadRestrictors()[0], known: config.LoadRestrictors()},
		color:          choice{value: "auto", known: []string{"auto", "always", "never"}},
		limits:         newScanLimits(),
	}
}

// register declares all flags on cmd. Usage texts quote the name of the argument.
func (f *scanFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "judge what changed since the merge base with this `REV`")
	flags.StringVar(&f.head, "head", "", "judge this `REV` instead of the work tree")
	flags.StringVar(&f.basePath, "base-path", "", "compare with this plain `DIR` instead of a revision; no git")
	f.registerJudging(cmd)
}

// registerJudging declares all flags but those that say what is compared.
func (f *scanFlags) registerJudging(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.given = flags.Changed
	flags.Var(&f.policies, "policies", "more policies than those in the repository: a `PATH` of YAML (repeatable)")
	flags.Var(&f.context, "context", "YAML `FILE` of a cluster's Namespaces, CRDs, params, RBAC and policies, - for stdin (repeatable)")
	flags.Var(&f.roots, "roots", "only the roots that match this `GLOB`; ** crosses directories (repeatable)")
	flags.StringVar(&f.as, "as", "", "the `USER` who applies the objects (default \""+config.DefaultUser().Name+"\")")
	flags.Var(&f.asGroups, "as-group", "a `GROUP` of that user (repeatable)")
	flags.Var(&f.loadRestrictor, "load-restrictor", "kustomize's: `RESTRICTOR` is "+strings.Join(f.loadRestrictor.known, " or "))
	flags.BoolVar(&f.noWorkloads, "no-workloads", false, "do not judge the Pods, ReplicaSets and Jobs that controllers create of workloads")
	flags.StringVar(&f.config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	flags.Var(&f.failOn, "fail-on", "the weakest `ACTION` that fails the run: "+strings.Join(f.failOn.known, ", "))
	flags.BoolVar(&f.existing, "existing", false, "let findings that the base has too fail the run")
	flags.BoolVar(&f.diff, "diff", false, "report too what changes in the rendered objects, for formats that show it; html implies it")
	flags.Var(&f.format, "format", "`FORMAT` of the report on stdout: "+strings.Join(f.format.known, ", "))
	flags.VarP(&f.outputs, "output", "o", "also write the report to a file, `[FORMAT=]FILE`; - is stdout (repeatable)")
	flags.Var(&f.color, "color", "`WHEN` to colour text: auto, always or never")
	f.cache.register(flags)
	f.limits.register(flags)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say more: what was compared, audit notes, timings")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "say less: no progress, only denials and the summary")
	for _, c := range []struct {
		name  string
		known []string
	}{
		{"fail-on", f.failOn.known}, {"format", f.format.known},
		{"color", f.color.known}, {"load-restrictor", f.loadRestrictor.known},
	} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(c.name, cobra.FixedCompletions(
			toCompletions(c.known), cobra.ShellCompDirectiveNoFileComp))
	}
}

func toCompletions(words []string) []cobra.Completion {
	return append([]cobra.Completion(nil), words...)
}

// check refuses flags that contradict each other.
func (f *scanFlags) check() error {
	switch {
	case f.basePath != "" && (f.base != "" || f.head != ""):
		return usagef("--base-path compares plain directories and excludes --base and --head")
	case f.given("base") && f.base == "":
		return usagef("--base is empty: give a revision, like origin/main")
	case f.given("head") && f.head == "":
		return usagef("--head is empty: give a revision, like HEAD")
	case f.given("base-path") && f.basePath == "":
		return usagef("--base-path is empty: give a directory")
	case len(f.asGroups.values) > 0 && f.as == "":
		return usagef("--as-group needs --as: groups belong to a user")
	case f.given("as") && f.as == "":
		return usagef("--as is empty: give a user name")
	case f.verbose && f.quiet:
		return usagef("-v and -q contradict each other")
	}
	if err := f.limits.check(); err != nil {
		return err
	}
	for _, glob := range f.roots.values {
		if err := config.CheckGlob(glob); err != nil {
			return usagef("--roots: %w", err)
		}
	}
	return nil
}

// apply overrides a configuration with the flags of the command line.
func (f *scanFlags) apply(c *config.Config) {
	if f.given("fail-on") || c.FailOn == "" {
		c.FailOn = f.failOn.value
	}
	if f.given("load-restrictor") || c.LoadRestrictor == "" {
		c.LoadRestrictor = f.loadRestrictor.value
	}
	if f.given("no-workloads") {
		workloads := !f.noWorkloads
		c.Workloads = &workloads
	}
	if len(f.roots.values) > 0 {
		c.Roots = f.roots.values
	}
	if f.as == "" {
		return
	}
	user := config.NewUser(f.as, f.asGroups.values)
	c.User = &user
	for i := range c.Targets {
		c.Targets[i].User = nil // the command line speaks for all targets
	}
}
