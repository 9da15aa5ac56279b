package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/release"
)

// Judge scans a change, and returns the report and the configuration in force. If the targets
// have several releases of Kubernetes, child processes judge all releases but one.
func Judge(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra) (*report.Report, config.Config, error) {
	j := &judging{p: p, f: f, change: change, extras: extras}
	cfg, remarks, err := LoadConfig(f, change)
	if err != nil {
		return nil, cfg, err
	}
	parts, err := j.parts(ctx, cfg)
	if err != nil {
		return nil, cfg, err
	}
	result := scanner.Join(parts)
	result.Diagnose(append(remarks, change.Remarks...)...)
	return result, cfg, nil
}

// Deploy returns the objects that are applied from the head of a change, with the expected answers.
func Deploy(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra) (*scanner.Deployment, error) {
	j := &judging{p: p, f: f, change: change, extras: extras}
	cfg, remarks, err := LoadConfig(f, change)
	if err != nil {
		return nil, err
	}
	if all, err := cfg.Releases(); err != nil || len(all) > 1 || all[0] != (release.Release{}).Normal() {
		remarks = append(remarks, report.Diagnostic{
			Severity: "warning", Message: "the sandbox has an API server of Kubernetes " + release.Latest + ": the versions, feature gates and runtime config of the configuration do not count",
		})
		cfg.KubernetesVersion, cfg.FeatureGates, cfg.RuntimeConfig, cfg.Targets = "", nil, nil, slices.Clone(cfg.Targets)
		for i := range cfg.Targets {
			cfg.Targets[i].KubernetesVersion, cfg.Targets[i].FeatureGates, cfg.Targets[i].RuntimeConfig = "", nil, nil
		}
	}
	deployment, err := run(ctx, j, cfg, scanner.Deploy)
	if err != nil {
		return nil, err
	}
	deployment.Report.Diagnose(append(remarks, change.Remarks...)...)
	return deployment, nil
}

// Explanation scans a change and explains one finding. It returns nil if there is no such finding.
func Explanation(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra, fingerprint string) (*report.ExplainReport, error) {
	cfg, _, err := LoadConfig(f, change)
	if err != nil {
		return nil, err
	}
	if err := AsConfigured(ctx, p, &cfg); err != nil {
		return nil, err
	}
	j := &judging{p: p, f: f, change: change, extras: extras}
	return run(ctx, j, cfg, func(ctx context.Context, in scanner.Input) (*report.ExplainReport, error) {
		return scanner.Explain(ctx, in, fingerprint)
	})
}

// judging judges a change.
type judging struct {
	p      cli.Process
	f      *Flags
	change *Change
	extras []scanner.Extra
	// cache is the directory of the cache that processes share; empty for the cache of the flags.
	cache string
	// shared is the directory for other results that processes share; empty for a single process.
	shared string
}

// run runs a scan in this process, within the limits, and returns its result. The scan may still be running after
// an error, so do must not write to variables of its caller.
func run[T any](ctx context.Context, j *judging, cfg config.Config, do func(context.Context, scanner.Input) (*T, error)) (*T, error) {
	p, f, change := j.p, j.f, j.change
	cache, err := f.openCache(j.cache)
	if err != nil {
		return nil, err
	}
	defer CloseCache(p.Stderr, cache)
	if j.shared != "" {
		cache.ShareFailures(j.shared)
	}
	if err := f.Mount(ctx, p, change, cfg); err != nil {
		return nil, err
	}
	if p.Part == nil {
		f.Explain(p.Stderr, change)
	}
	progress := cli.NewProgress(p, f.Quiet || p.Part != nil)
	doing := cli.NewActivity()
	shared := openShared(j.shared)
	result, err := cli.Within(ctx, &f.limits, doing, func(ctx context.Context) (*T, error) {
		return do(ctx, scanner.Input{
			Base:    change.Base,
			Head:    change.Head,
			Remotes: change.Remotes,
			Config:  cfg,
			Extra:   j.extras,
			Render:  RenderOptions(p, cfg.LoadRestrictor, cache),
			Version: cli.Version(),
			Diff:    f.diffLimits(),
			Capture: f.captured(),
			Answers: shared.answers,
			Decoded: shared.decoded,
			Settled: shared.settled,
			Progress: func(stage string, done, total int) {
				doing.Update(stage, done, total)
				progress.Update(stage, done, total)
			},
			Rendering: doing.Rendering,
			Judging:   func(request string) func() { return doing.Begin(request) },
		})
	})
	progress.Erase()
	if err != nil {
		return nil, Error(ctx, err)
	}
	shared.save(p.Stderr)
	return result, nil
}

// Error returns a usage error if the error of a scan is due to its input, else the error with context.
func Error(ctx context.Context, err error) error {
	input := new(scanner.InputError)
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, new(*cli.ExitError)):
		return err
	case errors.As(err, &input):
		return cli.Usagef("%w", err)
	}
	return fmt.Errorf("scan: %w", err)
}

// Verdict returns the error that ends a run with this report.
func Verdict(stderr io.Writer, r *report.Report, failOn string, existing bool) error {
	switch r.Verdict(failOn, existing) {
	case report.VerdictFailed:
		return cli.ErrFindings
	case report.VerdictIncomplete:
		if none := r.Summary.NoPolicies; none != nil && none.Required && r.Summary.Roots.Failed+r.Summary.Roots.Lost == 0 {
			return &cli.ExitError{Code: cli.ExitIncomplete, Err: errors.New("no policy is in force, although policies are required: see the report")}
		}
		return &cli.ExitError{Code: cli.ExitIncomplete, Err: fmt.Errorf(
			"the scan is incomplete: %s, see the report", cli.Count(r.Summary.Roots.Failed+r.Summary.Roots.Lost, "root does", "roots do")+" not render")}
	}
	return nil
}

// Explain writes what is compared to stderr, with -v.
func (f *Flags) Explain(stderr io.Writer, c *Change) {
	if !f.Verbose {
		return
	}
	for _, note := range c.Notes {
		_, _ = fmt.Fprintf(stderr, "preadmit: %s\n", escape.Line(note))
	}
}

// diffLimits returns the limits of the diff in a report, nil if the report has no diff.
func (f *Flags) diffLimits() *diff.Limits {
	if !f.Diff {
		return nil
	}
	return &diff.Limits{}
}

// RenderCommand is the name of the hidden command that renders one root in a child process.
const RenderCommand = "render-root"

// RenderOptions returns the options of rendering for a run.
func RenderOptions(p cli.Process, loadRestrictor string, cache *render.Cache) render.Options {
	opts := render.Options{LoadRestrictor: render.LoadRestrictor(loadRestrictor), Cache: cache}
	if p.Executable != "" {
		opts.Isolate = isolate.Program(p.Executable, RenderCommand)
	}
	return opts
}
