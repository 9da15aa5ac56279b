package scan

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/artifacts"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/config"
)

// Flags are the flags of preadmit scan.
type Flags struct {
	cli.OutputFlags
	Path                 string   // the first positional argument
	more                 []string // further positional arguments
	named                bool     // whether there are positional arguments
	Base, Head, BasePath string
	Policies, Context    cli.Words
	As                   string
	AsGroups             cli.Words
	FailOn               cli.Choice
	Existing, Diff       bool
	RequirePolicies      bool
	By                   cli.Words
	Roots, exclude       cli.Words
	LoadRestrictor       cli.Choice
	noWorkloads          bool
	capture              bool
	applier              cli.Choice
	nodePorts            string
	Config               string
	Cache                CacheFlags
	Artifacts            artifacts.Flags
	Fetch                artifacts.Mode
	offline              bool
	limits               cli.Limits
	Release              ReleaseFlags
	// stdin is the data that was read from standard input.
	stdin bytes.Buffer
}

// NewFlags returns the flags with their defaults.
func NewFlags() *Flags {
	return &Flags{
		OutputFlags: cli.NewOutputFlags(format.Formats()),
		Path:        ".",
		Policies:    cli.Words{Kind: "PATH"}, Context: cli.Words{Kind: "FILE"},
		AsGroups: cli.Words{Kind: "GROUP"}, Roots: cli.Words{Kind: "GLOB"}, exclude: cli.Words{Kind: "GLOB"}, By: cli.Words{Kind: "WHAT"},
		FailOn:         cli.Choice{Value: "deny", Known: report.FailOnValues()},
		LoadRestrictor: cli.Choice{Value: config.LoadRestrictors()[0], Known: config.LoadRestrictors()},
		applier:        cli.Choice{Value: string(apply.Flux), Known: apply.Appliers()},
		Artifacts:      artifacts.NewFlags(),
		limits:         cli.NewLimits(),
	}
}

// Register declares all flags on cmd. Usage texts quote the name of the argument.
func (f *Flags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Base, "base", "", "judge the changes since the merge base with this revision `REV`")
	flags.StringVar(&f.Head, "head", "", "judge this revision `REV` instead of the work tree")
	flags.StringVar(&f.BasePath, "base-path", "", "compare with this directory `DIR` instead of a revision, without git")
	f.RegisterJudging(cmd)
	f.Artifacts.RegisterGiven(flags)
	flags.Var(&f.By, "by", "in text, print totals by `WHAT` instead of findings: "+strings.Join(format.TotalsBy(), ", ")+" (repeatable)")
	f.RegisterApplier(cmd)
	f.RegisterNodePorts(flags)
	flags.BoolVar(&f.capture, "capture", false, "also report every request with its response and the objects as policies see them, including whole Secrets; for json")
}

// RegisterApplier declares the flag that names the tool that applies objects.
func (f *Flags) RegisterApplier(cmd *cobra.Command) {
	cmd.Flags().Var(&f.applier, "applier", "`TOOL` that applies objects of roots without a deployer in the repository: "+strings.Join(f.applier.Known, ", "))
	_ = cmd.RegisterFlagCompletionFunc("applier", cobra.FixedCompletions(cli.Completions(f.applier.Known), cobra.ShellCompDirectiveNoFileComp))
}

// RegisterNodePorts declares the flag for the range of node ports.
func (f *Flags) RegisterNodePorts(flags *pflag.FlagSet) {
	flags.StringVar(&f.nodePorts, "service-node-port-range", "", "flag of the API server: `RANGE` of node ports (default 30000-32767)")
}

// RegisterJudging declares all flags except those for what is compared.
func (f *Flags) RegisterJudging(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Given = flags.Changed
	f.registerGiven(flags)
	flags.Var(&f.LoadRestrictor, "load-restrictor", "`RESTRICTOR` of the files that kustomizations may load: "+strings.Join(f.LoadRestrictor.Known, " or "))
	flags.BoolVar(&f.noWorkloads, "no-workloads", false, "do not judge the Pods, ReplicaSets and Jobs that controllers create for workloads")
	f.Release.Register(cmd)
	flags.StringVar(&f.Config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	flags.Var(&f.FailOn, "fail-on", "weakest `ACTION` that fails the run: "+strings.Join(f.FailOn.Known, ", "))
	flags.BoolVar(&f.RequirePolicies, "require-policies", false, "end with exit code 3 if no policy is in force")
	flags.BoolVar(&f.Existing, "existing", false, "show findings that the base also has, and let them fail the run")
	if !f.Release.Between { // an upgrade has no base
		flags.BoolVar(&f.Diff, "diff", false, "also report how the rendered objects change, in formats that show it; html implies it")
	}
	flags.Var(&f.Format, "format", "`FORMAT` of the report on stdout: "+strings.Join(f.Format.Known, ", "))
	flags.VarP(&f.Outputs, "output", "o", "also write the report to a file, `[FORMAT=]FILE`, - for stdout; a terminal then gets no text without --format (repeatable)")
	flags.Var(&f.Color, "color", "`WHEN` to use colours in text: auto, always or never")
	f.Cache.Register(flags)
	f.Fetch.Register(flags)
	flags.BoolVar(&f.offline, "offline", false, "do not use the network, whatever other flags are given")
	f.Artifacts.Register(flags)
	f.limits.Register(flags)
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "print more: what was compared, audit annotations, timings")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print only denials and the summary")
	for _, c := range []struct {
		name  string
		known []string
	}{
		{"fail-on", f.FailOn.Known}, {"format", f.Format.Known},
		{"color", f.Color.Known}, {"load-restrictor", f.LoadRestrictor.Known},
	} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(c.name, cobra.FixedCompletions(
			cli.Completions(c.known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// registerGiven declares the flags for input besides the tree, for the selection of roots, and for the
// user who applies them.
func (f *Flags) registerGiven(flags *pflag.FlagSet) {
	flags.Var(&f.Policies, "policies", "`PATH` of YAML with more policies than those of the repository (repeatable)")
	flags.Var(&f.Context, "context", "YAML `FILE` with Namespaces, CRDs, params, RBAC and policies of a cluster, - for stdin (repeatable)")
	flags.Var(&f.Roots, "roots", "only roots that match this `GLOB`, or with a leading ! only those that do not; ** matches any number of directories (repeatable)")
	flags.Var(&f.exclude, "exclude", "leave out roots at or below directories that match this `GLOB` (repeatable)")
	flags.StringVar(&f.As, "as", "", "`USER` who applies the objects (default \""+config.DefaultUser().Name+"\")")
	flags.Var(&f.AsGroups, "as-group", "`GROUP` of that user (repeatable)")
}

// RegisterState declares the flags for the state of a cluster: a tree, input besides it, and the
// user who applies it.
func (f *Flags) RegisterState(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.Given = flags.Changed
	flags.StringVar(&f.Head, "head", "", "use this revision `REV` instead of the work tree")
	f.registerGiven(flags)
	flags.Var(&f.applier, "applier", "`TOOL` that applies objects of roots without a deployer in the repository: "+strings.Join(f.applier.Known, ", "))
	flags.Var(&f.LoadRestrictor, "load-restrictor", "`RESTRICTOR` of the files that kustomizations may load: "+strings.Join(f.LoadRestrictor.Known, " or "))
	flags.StringVar(&f.Config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	f.Cache.Register(flags)
	f.Artifacts.RegisterGiven(flags)
	f.Fetch.Register(flags)
	flags.BoolVar(&f.offline, "offline", false, "fetch nothing, whatever other flags are given")
	f.Artifacts.Register(flags)
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print only refused objects and roots that do not render")
	for name, known := range map[string][]string{"applier": f.applier.Known, "load-restrictor": f.LoadRestrictor.Known} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(cli.Completions(known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// Check returns an error if flags are invalid or contradict each other.
func (f *Flags) Check() error {
	switch {
	case f.BasePath != "" && (f.Base != "" || f.Head != ""):
		return cli.Usagef("--base-path compares plain directories and excludes --base and --head")
	case f.Given("base") && f.Base == "":
		return cli.Usagef("--base is empty: give a revision, like origin/main")
	case f.Given("head") && f.Head == "":
		return cli.Usagef("--head is empty: give a revision, like HEAD")
	case strings.HasPrefix(f.Base, "-"):
		return cli.Usagef("--base: %q is no revision: the value is missing, or the variable that has it is empty", f.Base)
	case strings.HasPrefix(f.Head, "-"):
		return cli.Usagef("--head: %q is no revision: the value is missing, or the variable that has it is empty", f.Head)
	case f.Given("base-path") && f.BasePath == "":
		return cli.Usagef("--base-path is empty: give a directory")
	case len(f.AsGroups.Values) > 0 && f.As == "":
		return cli.Usagef("--as-group needs --as: groups belong to a user")
	case f.Given("as") && f.As == "":
		return cli.Usagef("--as is empty: give a user name")
	case slices.ContainsFunc(f.By.Values, func(by string) bool { return !slices.Contains(format.TotalsBy(), by) }):
		return cli.Usagef("--by: %q: want %s", f.By.Values, strings.Join(format.TotalsBy(), " or "))
	case f.Given("service-node-port-range") && config.CheckNodePorts(f.nodePorts) != nil:
		return cli.Usagef("--service-node-port-range: %w", config.CheckNodePorts(f.nodePorts))
	case f.Verbose && f.Quiet:
		return cli.Usagef("-v and -q contradict each other")
	}
	if err := f.Release.Check(); err != nil {
		return err
	}
	if err := f.limits.Check(); err != nil {
		return err
	}
	if err := f.Fetch.Check(); err != nil {
		return err
	}
	for _, name := range []string{"credentials", "ca-file", "private-host"} {
		if f.Given(name) && !f.Given("fetch") && !f.Fetch.On() {
			return cli.Usagef("--%s is for what is fetched, and nothing is: give --fetch too", name)
		}
	}
	for _, globs := range []struct {
		flag   string
		values []string
	}{{"roots", f.Roots.Values}, {"exclude", f.exclude.Values}} {
		for _, glob := range globs.values {
			if err := config.CheckGlob(glob); err != nil {
				return cli.Usagef("--%s: %w", globs.flag, err)
			}
		}
	}
	return nil
}

// apply overrides a configuration with the flags of the command line.
func (f *Flags) apply(c *config.Config) {
	if f.Given("fail-on") || c.FailOn == "" {
		c.FailOn = f.FailOn.Value
	}
	if f.Given("load-restrictor") || c.LoadRestrictor == "" {
		c.LoadRestrictor = f.LoadRestrictor.Value
	}
	if f.Given("no-workloads") {
		workloads := !f.noWorkloads
		c.Workloads = &workloads
	}
	if f.Given("require-policies") {
		c.RequirePolicies = f.RequirePolicies
	}
	if len(f.Roots.Values) > 0 {
		c.Roots = f.Roots.Values
	}
	for _, glob := range f.exclude.Values {
		c.Roots = append(slices.Clip(c.Roots), config.Not+strings.TrimPrefix(glob, config.Not))
	}
	if f.Given("applier") {
		c.Applier = f.applier.Value
	}
	f.Release.apply(c)
	if f.Given("service-node-port-range") {
		c.ServiceNodePortRange = f.nodePorts
	}
	if f.As == "" {
		if c.Applier != "" && c.User == nil {
			user := config.NewUser(apply.Applier(c.Applier).User(), nil)
			c.User = &user
		}
		return
	}
	user := config.NewUser(f.As, f.AsGroups.Values)
	c.User = &user
	for i := range c.Targets {
		c.Targets[i].User = nil // the command line overrides all targets
	}
}

// captured returns how much of each request the report has.
func (f *Flags) captured() scanner.Capture {
	switch {
	case f.capture:
		return scanner.CaptureObjects
	case f.Verbose:
		return scanner.CaptureNames
	}
	return scanner.CaptureNothing
}

// PathArgument returns the parser of the single positional argument.
func PathArgument(f *Flags) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return cli.Usagef("scan takes one PATH, got %q", args)
		}
		if len(args) == 1 {
			f.Path = args[0]
		}
		return nil
	}
}
