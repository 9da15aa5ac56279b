package main

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner/config"
)

func newScanCommand(p cli.Process) *cobra.Command {
	f := scan.NewFlags()
	cmd := &cobra.Command{
		Use:   "scan [PATH...]",
		Short: "Judge a change, or all objects",
		Long: `Judge the objects of a repository as the cluster's API server would.

PATH is a directory, by default the current one, a file, or - for standard input.
For a directory, the roots at or below it are judged. For a file with objects, these
objects are judged, as the roots that use the file render them; for a patch, a
kustomization or values, all objects of these roots. A file that no root uses is
judged as it is written. For Kustomizations and HelmReleases of Flux, and Applications
and ApplicationSets of Argo CD in PATH, the objects that they deploy are judged too.

Objects in PATH are judged as their deployer applies them. It is an error if PATH has
nothing to judge. Inside a git repository, policies, Namespaces and CRDs of the whole
repository count. For standard input, and for files outside of a repository, only the
input, --policies and --context count.

Without --base every object is judged as created. With --base, the changes since the
merge base are judged as creations, updates and deletions; unchanged objects are judged
again if a policy that applies to them changed.

Configuration is read from ` + config.FileName + ` at the top of the base; flags take precedence.

Exit code: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or
configuration, 3 the scan could not be completed (a root does not render).`,
		Example: `  # Every object of the work tree, as if the cluster were empty
  preadmit scan

  # The changes of this branch and of the work tree
  preadmit scan --base origin/main

  # One manifest
  preadmit scan apps/shop/deployment.yaml

  # The output of another tool
  kustomize build overlays/production | preadmit scan --policies policies -

  # A pull request in CI, with a SARIF file
  preadmit scan --base origin/main --head HEAD -o preadmit.sarif

  # Two directories, no git
  preadmit scan --base-path before after

  # With Namespaces and CRDs of the cluster
  kubectl get ns,crd -o yaml | preadmit scan --base origin/main --context -`,
		Args: scan.PathArguments(f),
		RunE: func(cmd *cobra.Command, _ []string) error { return runScan(cmd.Context(), p, f) },
	}
	f.Register(cmd)
	return cmd
}

// runScan runs the command: it opens the input, scans it and writes the report.
func runScan(ctx context.Context, p cli.Process, f *scan.Flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	outputs, err := f.ParseOutputs()
	if err != nil {
		return err
	}
	if err := cmp.Or(f.Need(outputs, "capture", "json"), f.Need(outputs, "by", "text")); err != nil {
		return err
	}
	f.Diff = f.Diff || outputs.Have("html")
	change, err := scan.OpenInput(ctx, p.Stdin, f)
	if err != nil {
		return err
	}
	extras, err := scan.OpenExtras(ctx, p.Stdin, f)
	if err != nil {
		return err
	}
	result, cfg, err := scan.Judge(ctx, p, f, change, extras)
	if err != nil {
		return err
	}
	if result.HasObjects() {
		f.Private = "json"
	}
	err = outputs.Write(p, &f.OutputFlags, func(w io.Writer, name string, opts format.Options) error {
		opts.FailOn, opts.Existing, opts.By = cfg.FailOn, f.Existing, f.By.Values
		return format.Write(w, name, result, opts)
	})
	if err != nil {
		return err
	}
	return scan.Verdict(p.Stderr, result, cfg.FailOn, f.Existing)
}
