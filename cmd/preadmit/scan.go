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
		Short: "Judge a change, or everything there is",
		Long: `Judge what the API server would say to the objects of a repository.

PATH is a directory, by default the current one, a file, or - for standard input.
Of a directory the roots at or below it are judged. Of a file the objects that are
written in it are judged, as the roots that use the file render them: of a patch, a
kustomization or values all objects of these roots. A file that no root uses is judged
as it is written. Of Kustomizations and HelmReleases of Flux, and Applications and
ApplicationSets of Argo CD, that are written in PATH, what they deploy is judged too.
What is in PATH and deployed from elsewhere is judged as its deployer applies it. A
PATH with nothing to judge is a mistake. Inside a git repository what may judge them -
policies, Namespaces, CRDs - is looked for in the whole repository. Standard input, and
files outside of a repository, are judged by themselves and by what --policies and
--context give.

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

  # Some manifests only
  preadmit scan apps/shop/deployment.yaml

  # What is rendered elsewhere
  kustomize build overlays/production | preadmit scan --policies policies -

  # A pull request in CI: a SARIF file besides the text
  preadmit scan --base origin/main --head HEAD -o preadmit.sarif

  # Two directories, no git
  preadmit scan --base-path before after

  # What only the cluster knows
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
