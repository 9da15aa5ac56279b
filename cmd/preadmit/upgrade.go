package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report/format"
)

func newUpgradeCommand(p cli.Process) *cobra.Command {
	f := scan.NewFlags()
	f.Release.Between = true
	cmd := &cobra.Command{
		Use:   "upgrade --to VERSION [PATH...]",
		Short: "Show what an upgrade of Kubernetes breaks",
		Long: `Judge the creation of every object with two versions of Kubernetes, and report
the findings that only the second version has: removed and deprecated APIs,
stricter validation, policies that no longer compile.

Findings of both versions are existing, and are shown only with --existing.
Findings of the first version alone are resolved. PATH, configuration and formats
are those of preadmit scan.

Exit code: 0 nothing new at or above --fail-on, 1 findings, 2 wrong usage or
configuration, 3 the scan could not be completed (a root does not render).`,
		Example: `  # From the version in ` + "`.preadmit.yaml`" + `, or else the previous one
  preadmit upgrade --to 1.36

  # Over several versions
  preadmit upgrade --from 1.33 --to 1.36 clusters/production`,
		Args: scan.PathArguments(f),
		RunE: func(cmd *cobra.Command, _ []string) error { return runUpgrade(cmd.Context(), p, f) },
	}
	cmd.Flags().StringVar(&f.Head, "head", "", "judge this revision `REV` instead of the work tree")
	f.RegisterJudging(cmd)
	f.RegisterApplier(cmd)
	return cmd
}

// runUpgrade runs the command.
func runUpgrade(ctx context.Context, p cli.Process, f *scan.Flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	outputs, err := f.ParseOutputs()
	if err != nil {
		return err
	}
	change, err := scan.OpenInput(ctx, p.Stdin, f)
	if err != nil {
		return err
	}
	extras, err := scan.OpenExtras(ctx, p.Stdin, f)
	if err != nil {
		return err
	}
	result, cfg, err := scan.Upgrade(ctx, p, f, change, extras)
	if err != nil {
		return err
	}
	err = outputs.Write(p, &f.OutputFlags, func(w io.Writer, name string, opts format.Options) error {
		opts.FailOn, opts.Existing = cfg.FailOn, f.Existing
		return format.Write(w, name, result, opts)
	})
	if err != nil {
		return err
	}
	return scan.Verdict(p.Stderr, result, cfg.FailOn, f.Existing)
}
