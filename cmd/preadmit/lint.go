package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/lint"
)

func newLintCommand(p cli.Process) *cobra.Command {
	f := newLintFlags()
	cmd := &cobra.Command{
		Use:   "lint [PATH]",
		Short: "Check policies and bindings for mistakes",
		Long: `Check ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings:
report what the API server refuses, warnings of type checking, and policies that
can never have the effect that they seem to have.

PATH is a directory, by default the current one, a file, or - for stdin. Inside
a git repository the policies that are written or rendered at or below PATH are
checked, and the rest of the repository is read as the state of the cluster.
--alone reads only PATH.

Exit code: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or
configuration, 3 lint could not be completed.`,
		Example: `  # All policies of the repository
  preadmit lint

  # A directory, with the CRDs and Namespaces of a cluster
  kubectl get ns,crd -o yaml | preadmit lint --context - policies

  # The policies of a cluster
  kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingadmissionpolicies,mutatingadmissionpolicybindings -o yaml | preadmit lint -

  # May the author of the policies read their params?
  preadmit lint --as jane --as-group policy-admins`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("lint takes one PATH, got %q", args)
			}
			f.scan.Path = append(args, ".")[0]
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runLint(cmd.Context(), p, f) },
	}
	f.register(cmd)
	return cmd
}

// runLint runs the command: it opens the input, lints it and writes the report.
func runLint(ctx context.Context, p cli.Process, f *lintFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	outputs, err := f.scan.ParseOutputs()
	if err != nil {
		return err
	}
	in, err := f.input(ctx, p)
	if err != nil {
		return err
	}
	progress := cli.NewProgress(p, f.scan.Quiet)
	in.Scan.Progress = progress.Update
	defer scan.CloseCache(p.Stderr, in.Scan.Render.Cache)
	result, err := lint.Run(ctx, in)
	progress.Erase()
	if err != nil {
		return scan.Error(ctx, err)
	}
	err = outputs.Write(p, &f.scan.OutputFlags, func(w io.Writer, name string, opts format.Options) error {
		return format.WriteLint(w, name, result, opts)
	})
	if err == nil && result.Failed(f.failOn.Value) {
		return cli.ErrFindings
	}
	return err
}

// input opens what the flags name.
func (f *lintFlags) input(ctx context.Context, p cli.Process) (lint.Input, error) {
	tree, under, err := f.tree(ctx, p.Stdin)
	if err != nil {
		return lint.Input{}, err
	}
	change := &scan.Change{Head: tree}
	cfg, _, err := scan.LoadConfig(f.scan, change)
	if err != nil {
		return lint.Input{}, err
	}
	if err := scan.AsConfigured(ctx, p, &cfg); err != nil {
		return lint.Input{}, err
	}
	if err := f.scan.Mount(ctx, p, change, cfg); err != nil {
		return lint.Input{}, err
	}
	tree = change.Head
	extras, err := scan.OpenExtras(ctx, p.Stdin, f.scan)
	if err != nil {
		return lint.Input{}, err
	}
	cache, err := f.scan.OpenCache()
	if err != nil {
		return lint.Input{}, err
	}
	in := lint.Input{
		Scan: scanner.Input{
			Head: tree, Config: cfg, Extra: extras,
			Render: scan.RenderOptions(p, cfg.LoadRestrictor, cache), Version: cli.Version(),
		},
		Under: under, Disable: f.disable.Values,
	}
	if f.scan.As != "" {
		author := config.NewUser(f.scan.As, f.scan.AsGroups.Values)
		in.Author = &author
	}
	return in, nil
}

// check returns an error if flags are invalid or contradict each other.
func (f *lintFlags) check() error {
	for _, id := range f.disable.Values {
		if !slices.Contains(report.LintRuleIDs(), id) {
			return cli.Usagef("--disable %s: there is no such rule, want one of %s", id, strings.Join(report.LintRuleIDs(), ", "))
		}
	}
	if f.scan.Path == "-" && slices.Contains(append(f.scan.Context.Values, f.scan.Policies.Values...), "-") {
		return cli.Usagef("lint -: stdin is what is looked at, and cannot be --policies or --context too")
	}
	return f.scan.Check()
}
