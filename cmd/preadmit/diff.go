package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
)

func newDiffCommand(p cli.Process) *cobra.Command {
	f := newDiffFlags()
	cmd := &cobra.Command{
		Use:   "diff [PATH]",
		Short: "Show how a change affects the rendered objects",
		Long: `Show how a change affects the rendered objects, root by root, as a unified diff of
YAML with sorted keys. Nothing is judged.

PATH is a directory, by default the current one. Inside a git repository the
whole repository is read, but only roots at or below PATH are compared.

Values of Secrets are masked; where two values differ, the masks differ.

Exit code: 0 no object differs, 1 objects differ, 2 wrong usage or configuration,
3 the comparison could not be completed (a root that the change touches does not
render).`,
		Example: `  # The changes of this branch and of the work tree
  preadmit diff --base origin/main

  # Two directories, no git
  preadmit diff --base-path before after

  # For a comment on a pull request
  preadmit diff --base origin/main --head HEAD --format markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("diff takes one PATH, got %q", args)
			}
			f.Path = append(args, ".")[0]
			f.named = len(args) > 0
			return nil
		},
		ValidArgsFunction: directoriesOnly,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runDiff(cmd.Context(), p, f) },
	}
	f.register(cmd)
	return cmd
}

// diffFlags are the flags of preadmit diff: some flags of scan, with other formats.
type diffFlags struct {
	*scan.Flags
	named bool // whether PATH was given
}

func newDiffFlags() *diffFlags {
	f := &diffFlags{Flags: scan.NewFlags()}
	f.Format.Known = format.DiffFormats()
	return f
}

// register declares the flags on cmd.
func (f *diffFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Given = flags.Changed
	flags.StringVar(&f.Base, "base", "", "compare with the merge base of HEAD and this revision `REV`")
	flags.StringVar(&f.Head, "head", "", "compare this revision `REV` instead of the work tree")
	flags.StringVar(&f.BasePath, "base-path", "", "compare with this directory `DIR` instead of a revision, without git")
	flags.Var(&f.Roots, "roots", "only roots that match this `GLOB`, or with a leading ! only those that do not; ** matches any number of directories (repeatable)")
	flags.Var(&f.LoadRestrictor, "load-restrictor", "`RESTRICTOR` of the files that kustomizations may load: "+strings.Join(f.LoadRestrictor.Known, " or "))
	flags.StringVar(&f.Config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	flags.Var(&f.Format, "format", "`FORMAT` on stdout: "+strings.Join(f.Format.Known, ", "))
	flags.Var(&f.Color, "color", "`WHEN` to use colours in text: auto, always or never")
	f.Cache.Register(flags)
	f.Artifacts.RegisterGiven(flags)
	f.Artifacts.RegisterDir(flags)
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "print more: what was compared, all remarks")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print only the diff")
	for _, c := range []struct {
		name  string
		known []string
	}{{"format", f.Format.Known}, {"color", f.Color.Known}, {"load-restrictor", f.LoadRestrictor.Known}} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(c.name, cobra.FixedCompletions(
			cli.Completions(c.known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// check returns an error if flags contradict each other or there is no base.
func (f *diffFlags) check() error {
	if err := f.Flags.Check(); err != nil {
		return err
	}
	if f.Base == "" && f.BasePath == "" {
		return cli.Usagef("there is nothing to compare with: give a revision with --base, like origin/main, or a directory with --base-path")
	}
	return nil
}

// printedLimits returns the limits of a printed diff: more than anybody reads, but small
// enough to fit in memory.
func printedLimits() *diff.Limits {
	return &diff.Limits{Objects: 100_000, ObjectBytes: 8 << 20, TotalBytes: 64 << 20}
}

// runDiff runs the command: it opens the trees, and writes their difference to stdout.
func runDiff(ctx context.Context, p cli.Process, f *diffFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	change, err := scan.Open(f.Flags)
	if err != nil {
		return err
	}
	cfg, remarks, err := scan.LoadConfig(f.Flags, change)
	if err != nil {
		return err
	}
	if err := scan.AsRendered(ctx, p, &cfg); err != nil {
		return err
	}
	if err := f.Mount(ctx, p, change, cfg); err != nil {
		return err
	}
	cache, err := f.OpenCache()
	if err != nil {
		return err
	}
	defer scan.CloseCache(p.Stderr, cache)
	f.Explain(p.Stderr, change)
	progress := cli.NewProgress(p, f.Quiet)
	change.Head.Named = f.named
	result, err := scanner.Compare(ctx, scanner.Input{
		Base: change.Base, Head: change.Head, Remotes: change.Remotes, Config: cfg, Diff: printedLimits(),
		Render: scan.RenderOptions(p, cfg.LoadRestrictor, cache), Version: cli.Version(), Progress: progress.Update,
	})
	progress.Erase()
	if err != nil {
		return scan.Error(ctx, err)
	}
	result.Diagnostics = slices.Concat(remarks, change.Remarks, result.Diagnostics)
	opts := format.Options{Verbose: f.Verbose, Quiet: f.Quiet, Color: cli.UseColor(p, f.Color.Value), Width: cli.Columns(p.Stdout)}
	if err := format.WriteDiff(p.Stdout, f.Format.Value, result, opts); err != nil {
		return err
	}
	return diffVerdict(result)
}

// diffVerdict returns the error that ends a run with this comparison.
func diffVerdict(c *report.Comparison) error {
	if n := len(c.Indeterminate); n > 0 {
		return &cli.ExitError{Code: cli.ExitIncomplete, Err: fmt.Errorf("the diff is incomplete: %s not render", cli.Count(n, "root that the change touches does", "roots that the change touches do"))}
	}
	if len(c.Changes.Objects)+c.Changes.LeftOut > 0 {
		return cli.ErrFindings
	}
	return nil
}
