package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/release"
)

// ReleaseFlags are the flags for the API server to imitate.
type ReleaseFlags struct {
	version, gates, apis string
	// Between is set for a command that compares two releases: it has --from and --to instead
	// of --kubernetes-version.
	Between  bool
	from, to string
}

// Register declares the flags.
func (f *ReleaseFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	if f.Between {
		flags.StringVar(&f.to, "to", "", "`VERSION` of Kubernetes after the upgrade: "+strings.Join(release.Minors(), ", "))
		flags.StringVar(&f.from, "from", "", "`VERSION` of Kubernetes before the upgrade (default that of "+config.FileName+", or else the one before --to)")
		f.registerSettings(flags)
		for _, name := range []string{"from", "to"} { // the only error is a flag that does not exist
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(cli.Completions(release.Minors()), cobra.ShellCompDirectiveNoFileComp))
		}
		return
	}
	flags.StringVar(&f.version, "kubernetes-version", "", "`VERSION` of the API server: "+strings.Join(release.Minors(), ", ")+", or a patch release of these (default "+release.Latest+")")
	f.registerSettings(flags)
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("kubernetes-version", cobra.FixedCompletions(cli.Completions(release.Minors()), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("feature-gates", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("runtime-config", cobra.NoFileCompletions)
}

func (f *ReleaseFlags) registerSettings(flags *pflag.FlagSet) {
	flags.StringVar(&f.gates, "feature-gates", "", "flag of the API server: `GATES` such as HPAScaleToZero=true,ImageVolume=false")
	flags.StringVar(&f.apis, "runtime-config", "", "flag of the API server: `APIS` such as resource.k8s.io/v1beta2=true,api/beta=true")
}

// Check returns an error if a version, feature gates or runtime config are invalid.
func (f *ReleaseFlags) Check() error {
	if f.version != "" {
		if _, err := release.ParseVersion(f.version); err != nil {
			return cli.Usagef("--kubernetes-version: %w", err)
		}
	}
	if f.Between && f.to == "" {
		return cli.Usagef("--to is missing: give the version that the cluster is to have, one of %s", strings.Join(release.Minors(), ", "))
	}
	for _, flag := range []struct{ name, version string }{{"from", f.from}, {"to", f.to}} {
		if flag.version == "" {
			continue
		}
		if _, err := release.ParseVersion(flag.version); err != nil {
			return cli.Usagef("--%s: %w", flag.name, err)
		}
	}
	if _, err := release.ParseFeatureGates(f.gates); err != nil {
		return cli.Usagef("--feature-gates: %w", err)
	}
	if _, err := release.ParseRuntimeConfig(f.apis); err != nil {
		return cli.Usagef("--runtime-config: %w", err)
	}
	return nil
}

// apply overrides a configuration with the flags, which must be valid.
func (f *ReleaseFlags) apply(c *config.Config) {
	if f.version != "" {
		forAll(c, f.version)
	}
	if f.gates != "" {
		c.FeatureGates, _ = release.ParseFeatureGates(f.gates)
		for i := range c.Targets {
			c.Targets[i].FeatureGates = nil
		}
	}
	if f.apis != "" {
		c.RuntimeConfig, _ = release.ParseRuntimeConfig(f.apis)
		for i := range c.Targets {
			c.Targets[i].RuntimeConfig = nil
		}
	}
}

// forAll sets the version of all targets in a configuration to one from the command line.
func forAll(c *config.Config, version string) {
	c.KubernetesVersion, c.Targets = version, slices.Clone(c.Targets)
	for i := range c.Targets {
		c.Targets[i].KubernetesVersion = ""
	}
}

// Imitate makes the process imitate a release.
func Imitate(r release.Release) error {
	err := emulation.Set(r)
	if flag := new(emulation.FlagError); errors.As(err, &flag) {
		return cli.Usagef("--%s, or %s of the configuration: %w", flag.Flag, settings[flag.Flag], err)
	}
	return err
}

// settings has the keys of the configuration by the names of the API server's flags.
var settings = map[string]string{"feature-gates": "featureGates", "runtime-config": "runtimeConfig"}

// As makes the process imitate a release. If it cannot, As runs the whole command in a child process
// and returns a *cli.CommandError with its exit code, which may be 0.
func As(ctx context.Context, p cli.Process, r release.Release) error {
	if p.Own || p.Part != nil || r == emulation.Current() {
		return Imitate(r)
	}
	c, err := partCommand(ctx, p, cli.Part{Release: r, Whole: true})
	if err != nil {
		return err
	}
	c.Stdin, c.Stdout, c.Stderr = p.Stdin, p.Stdout, p.Stderr
	exit := new(exec.ExitError)
	switch err := c.Run(); {
	case ctx.Err() != nil:
		return context.Canceled
	case err == nil, errors.As(err, &exit):
		return &cli.CommandError{Code: c.ProcessState.ExitCode()}
	default:
		return fmt.Errorf("start a process that judges as Kubernetes %s: %w", r, err)
	}
}

// AsConfigured is As with the release of the configuration, for a command that supports only one.
func AsConfigured(ctx context.Context, p cli.Process, cfg *config.Config) error {
	all, err := cfg.Releases()
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if len(all) > 1 {
		return cli.Usagef("the targets have several versions of Kubernetes (%s): name the one that counts with %s", names(all), differing(all))
	}
	return As(ctx, p, all[0])
}

// AsRendered is As for a command that renders, since charts can read the version. If the targets
// have several releases, it uses the default of the configuration and writes a note.
func AsRendered(ctx context.Context, p cli.Process, cfg *config.Config) error {
	all, err := cfg.Releases()
	if err != nil || len(all) == 1 {
		return AsConfigured(ctx, p, cfg)
	}
	r, err := cfg.Release()
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if p.Part == nil { // not in the child process of this command
		_, _ = fmt.Fprintf(p.Stderr, "preadmit: note: the targets have several versions of Kubernetes (%s): charts see that of the whole configuration, %s\n", names(all), r)
	}
	return As(ctx, p, r)
}

// AsNamed is As for a command without a configuration. The flags must be valid.
func (f *ReleaseFlags) AsNamed(ctx context.Context, p cli.Process) error {
	cfg := new(config.Config)
	f.apply(cfg)
	return AsConfigured(ctx, p, cfg)
}

// differing returns the flags for the settings that are not the same in all releases.
func differing(all []release.Release) string {
	first := all[0].Normal()
	differs := func(of func(release.Release) string) bool {
		return slices.ContainsFunc(all, func(r release.Release) bool { return of(r.Normal()) != of(first) })
	}
	var flags []string
	if differs(func(r release.Release) string { return r.Version }) {
		flags = append(flags, "--kubernetes-version")
	}
	if differs(func(r release.Release) string { return r.FeatureGates }) {
		flags = append(flags, "--feature-gates")
	}
	if differs(func(r release.Release) string { return r.RuntimeConfig }) {
		flags = append(flags, "--runtime-config")
	}
	return strings.Join(flags, " and ")
}

func names(all []release.Release) string {
	texts := make([]string, len(all))
	for i, r := range all {
		texts[i] = r.String()
	}
	return strings.Join(texts, ", ")
}

// ErrPart ends a child process that did a part of a command.
var ErrPart = &cli.CommandError{Code: cli.ExitClean}

// parts judges the targets of each release: those of one release in this process if possible, the others
// in child processes.
func (j *judging) parts(ctx context.Context, cfg config.Config) ([]*scanner.Part, error) {
	all, err := cfg.Releases()
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	if part := j.p.Part; part != nil && !part.Whole {
		if err := j.writePart(ctx, cfg, part); err != nil {
			return nil, err
		}
		return nil, ErrPart
	}
	if len(all) > 1 {
		remove, err := j.share()
		if err != nil {
			return nil, err
		}
		defer remove()
	}
	here, err := j.here(all[0])
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(all), func(r release.Release) bool { return r == here })
	next := partProcesses{j: j, releases: others}
	defer next.end()
	if err := next.start(ctx); err != nil {
		return nil, err
	}
	var parts []*scanner.Part
	if slices.Contains(all, here) {
		part, err := j.part(ctx, cfg)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for range others {
		part, err := next.judge(ctx)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// partProcesses are the child processes for several releases. They judge one after the other and share
// results; the next one already starts while one judges.
type partProcesses struct {
	j        *judging
	releases []release.Release // whose processes are not started
	started  []*partProcess
	judged   int // the number of started processes that have judged
}

// start starts the process of the next release, if there is one.
func (p *partProcesses) start(ctx context.Context) error {
	if len(p.releases) == 0 {
		return nil
	}
	next, err := startPart(ctx, p.j.p, cli.Part{Release: p.releases[0], Cache: p.j.cache, Shared: p.j.shared})
	if err != nil {
		return err
	}
	p.releases, p.started = p.releases[1:], append(p.started, next)
	return nil
}

// judge starts the process after the next one, and returns the result of the next one.
func (p *partProcesses) judge(ctx context.Context) (*scanner.Part, error) {
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	next := p.started[p.judged]
	p.judged++
	return next.judge(ctx, p.j.f.stdin.Bytes())
}

// end ends the processes.
func (p *partProcesses) end() {
	for _, process := range p.started {
		process.end()
	}
}

// partOf judges the targets of one release, in this process if possible.
func (j *judging) partOf(ctx context.Context, cfg config.Config, r release.Release, from *release.Release) (*scanner.Part, error) {
	here, err := j.here(r)
	if err != nil {
		return nil, err
	}
	if here == r {
		return j.part(ctx, cfg)
	}
	return j.requestPart(ctx, cli.Part{Release: r, Cache: j.cache, Shared: j.shared, From: from})
}

// here returns the release that this process imitates: r, if it does not imitate one already.
func (j *judging) here(r release.Release) (release.Release, error) {
	if !j.p.Own {
		return emulation.Current(), nil
	}
	err := Imitate(r)
	if errors.Is(err, emulation.ErrDecided) {
		return emulation.Current(), nil
	}
	return r, err
}

// share creates a directory for what the processes share: a cache, if there is none, and other results.
func (j *judging) share() (remove func(), err error) {
	if j.shared != "" || j.p.Executable == "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "preadmit-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for what several processes render: %w", err)
	}
	if j.f.Cache.dir == "" {
		j.cache = dir
	}
	j.shared = dir
	return func() { _ = os.RemoveAll(dir) }, nil
}

// part judges the targets of the release that this process imitates.
func (j *judging) part(ctx context.Context, cfg config.Config) (*scanner.Part, error) {
	return run(ctx, j, cfg, scanner.ScanPart)
}

// writePart does the part of this process, and writes the result to stdout.
func (j *judging) writePart(ctx context.Context, cfg config.Config, of *cli.Part) error {
	j.cache, j.shared = of.Cache, of.Shared
	part, err := j.part(ctx, cfg)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(j.p.Stdout).Encode(part); err != nil {
		return fmt.Errorf("write what is said as Kubernetes %s: %w", of.Release, err)
	}
	return nil
}

// requestPart judges the targets of a release in a child process.
func (j *judging) requestPart(ctx context.Context, of cli.Part) (*scanner.Part, error) {
	return RunPart(ctx, j.p, of, j.f.stdin.Bytes())
}
