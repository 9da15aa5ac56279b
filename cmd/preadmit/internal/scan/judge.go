package scan

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
)

// Judge scans a change with the configuration in force, and returns both.
func Judge(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra) (*report.Report, config.Config, error) {
	return judge(ctx, p, f, change, extras, scanner.Scan)
}

// Deploy returns what is applied of the head of a change, with the answers that are expected.
func Deploy(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra) (deployment *scanner.Deployment, err error) {
	_, _, err = judge(ctx, p, f, change, extras, func(ctx context.Context, in scanner.Input) (*report.Report, error) {
		if deployment, err = scanner.Deploy(ctx, in); err != nil {
			return nil, err
		}
		return deployment.Report, nil
	})
	return deployment, err
}

// judge runs a scan of a change with the configuration in force.
func judge(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra, run func(context.Context, scanner.Input) (*report.Report, error)) (*report.Report, config.Config, error) {
	cfg, remarks, err := LoadConfig(f, change)
	if err != nil {
		return nil, cfg, err
	}
	cache, err := f.OpenCache()
	if err != nil {
		return nil, cfg, err
	}
	defer CloseCache(p.Stderr, cache)
	if err := f.Mount(ctx, p, change, cfg); err != nil {
		return nil, cfg, err
	}
	f.Explain(p.Stderr, change)
	progress := cli.NewProgress(p, f.Quiet)
	doing := cli.NewActivity()
	result, err := f.limits.Run(ctx, doing, func(ctx context.Context) (*report.Report, error) {
		return run(ctx, scanner.Input{
			Base:    change.Base,
			Head:    change.Head,
			Remotes: change.Remotes,
			Config:  cfg,
			Extra:   extras,
			Render:  RenderOptions(p, cfg.LoadRestrictor, cache),
			Version: cli.Version(),
			Diff:    f.diffLimits(),
			Capture: f.captured(),
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
		return nil, cfg, Error(ctx, err)
	}
	result.Diagnose(append(remarks, change.Remarks...)...)
	return result, cfg, nil
}

// Error returns a usage error for a mistake of the user, else the error of the scan.
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

// Explain writes to stderr, with -v, what is compared.
func (f *Flags) Explain(stderr io.Writer, c *Change) {
	if !f.Verbose {
		return
	}
	for _, note := range c.Notes {
		_, _ = fmt.Fprintf(stderr, "preadmit: %s\n", note)
	}
}

// diffLimits returns the limits of the diff in a report, nil if the report has no diff.
func (f *Flags) diffLimits() *diff.Limits {
	if !f.Diff {
		return nil
	}
	return &diff.Limits{}
}

// RenderCommand is the name of the command that renders one root in a process of its own.
const RenderCommand = "render-root"

// RenderOptions returns the options of rendering for a run.
func RenderOptions(p cli.Process, loadRestrictor string, cache *render.Cache) render.Options {
	opts := render.Options{LoadRestrictor: render.LoadRestrictor(loadRestrictor), Cache: cache}
	if p.Executable != "" {
		opts.Isolate = isolate.Program(p.Executable, RenderCommand)
	}
	return opts
}
