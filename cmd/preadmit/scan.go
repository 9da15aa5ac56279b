package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

func newScanCommand(p Process) *cobra.Command {
	f := newScanFlags()
	cmd := &cobra.Command{
		Use:   "scan [PATH]",
		Short: "Judge a change, or everything there is",
		Long: `Judge what the API server would say to the objects of a repository.

PATH is a directory, by default the current one. Inside a git repository the
whole repository is read, but only roots at or below PATH are judged.

Without --base every object is judged as created. With --base, what changed
since the merge base is judged as created, updated or deleted; objects that did
not change are judged again when a policy that reaches them did.

Configuration is read from ` + config.FileName + ` at the top of the base; flags win over it.

Exit code: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or
configuration, 3 the scan could not be completed (a root does not render).`,
		Example: `  # Every object of the work tree, as if the cluster were empty
  preadmit scan

  # What this branch changes, uncommitted work included
  preadmit scan --base origin/main

  # A pull request in CI: a SARIF file besides the text
  preadmit scan --base origin/main --head HEAD -o preadmit.sarif

  # Two directories, no git
  preadmit scan --base-path before after

  # What only the cluster knows
  kubectl get ns,crd -o yaml | preadmit scan --base origin/main --context -`,
		Args: scanPath(f),
		RunE: func(cmd *cobra.Command, _ []string) error { return runScan(cmd.Context(), p, f) },
	}
	f.register(cmd)
	return cmd
}

// scanPath returns the positional argument.
func scanPath(f *scanFlags) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("scan takes one PATH, got %q", args)
		}
		if len(args) == 1 {
			f.path = args[0]
		}
		return nil
	}
}

// runScan runs the command: it opens the input, scans it and writes the report.
func runScan(ctx context.Context, p Process, f *scanFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	outputs, err := parseOutputs(f)
	if err != nil {
		return err
	}
	f.diff = f.diff || outputs.have("html")
	change, err := openChange(f)
	if err != nil {
		return err
	}
	extras, err := openExtras(ctx, p.Stdin, f)
	if err != nil {
		return err
	}
	result, cfg, err := judge(ctx, p, f, change, extras)
	if err != nil {
		return err
	}
	err = outputs.write(p, f, func(w io.Writer, name string, opts format.Options) error {
		opts.FailOn, opts.Existing = cfg.FailOn, f.existing
		return format.Write(w, name, result, opts)
	})
	if err != nil {
		return err
	}
	return verdict(p.Stderr, result, cfg.FailOn, f.existing)
}

// judge scans a change with the configuration in force, and returns both.
func judge(ctx context.Context, p Process, f *scanFlags, change *change, extras []scanner.Extra) (*report.Report, config.Config, error) {
	cfg, remarks, err := loadConfig(f, change)
	if err != nil {
		return nil, cfg, err
	}
	cache, err := f.openCache()
	if err != nil {
		return nil, cfg, err
	}
	defer closeCache(p.Stderr, cache)
	f.explain(p.Stderr, change)
	progress := newProgress(p, f.quiet)
	doing := newActivity()
	result, err := f.limits.run(ctx, doing, func(ctx context.Context) (*report.Report, error) {
		return scanner.Scan(ctx, scanner.Input{
			Base:    change.base,
			Head:    change.head,
			Config:  cfg,
			Extra:   extras,
			Render:  renderOptions(p, cfg.LoadRestrictor, cache),
			Version: ownVersion(),
			Diff:    f.diffLimits(),
			Progress: func(stage string, done, total int) {
				doing.update(stage, done, total)
				progress.update(stage, done, total)
			},
			Rendering: doing.rendering,
			Judging:   func(request string) func() { return doing.begin(request) },
		})
	})
	progress.erase()
	if err != nil {
		return nil, cfg, scanError(ctx, err)
	}
	result.Diagnose(remarks...)
	return result, cfg, nil
}

func ownVersion() string {
	info, _ := debug.ReadBuildInfo()
	return mainVersion(info)
}

// scanError returns a usage error for a mistake of the user, else the error of the scan.
func scanError(ctx context.Context, err error) error {
	input := new(scanner.InputError)
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, new(*exitError)):
		return err
	case errors.As(err, &input):
		return usagef("%w", err)
	}
	return fmt.Errorf("scan: %w", err)
}

// verdict returns the error that ends a run with this report.
func verdict(stderr io.Writer, r *report.Report, failOn string, existing bool) error {
	switch r.Verdict(failOn, existing) {
	case report.VerdictFailed:
		return errFindings
	case report.VerdictIncomplete:
		return &exitError{code: exitIncomplete, err: fmt.Errorf(
			"the scan is incomplete: %s, see the report", count(r.Summary.Roots.Failed+r.Summary.Roots.Lost, "root does", "roots do")+" not render")}
	}
	return nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// explain writes to stderr, with -v, what is compared.
func (f *scanFlags) explain(stderr io.Writer, c *change) {
	if !f.verbose {
		return
	}
	for _, note := range c.notes {
		_, _ = fmt.Fprintf(stderr, "preadmit: %s\n", note)
	}
}
