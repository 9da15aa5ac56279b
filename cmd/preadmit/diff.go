package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
)

func newDiffCommand(p Process) *cobra.Command {
	f := newDiffFlags()
	cmd := &cobra.Command{
		Use:   "diff [PATH]",
		Short: "Show what a change changes in the rendered objects",
		Long: `Show what a change changes in the rendered objects, root by root, as a unified
diff of YAML with sorted keys. Nothing is judged.

PATH is a directory, by default the current one. Inside a git repository the
whole repository is read, but only roots at or below PATH are compared.

The values of Secrets are masked; those that differ say on which side they are.

Exit code: 0 no object differs, 1 objects differ, 2 wrong usage or configuration,
3 the comparison could not be completed (a root that the change touches does not
render).`,
		Example: `  # What this branch changes, uncommitted work included
  preadmit diff --base origin/main

  # Two directories, no git
  preadmit diff --base-path before after

  # For a comment on a pull request
  preadmit diff --base origin/main --head HEAD --format markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("diff takes one PATH, got %q", args)
			}
			f.path = append(args, ".")[0]
			return nil
		},
		ValidArgsFunction: directoriesOnly,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runDiff(cmd.Context(), p, f) },
	}
	f.register(cmd)
	return cmd
}

// diffFlags are the flags of preadmit diff: some flags of scan, with other formats.
type diffFlags struct{ *scanFlags }

func newDiffFlags() *diffFlags {
	f := &diffFlags{newScanFlags()}
	f.format.known = format.DiffFormats()
	return f
}

// register declares the flags on cmd.
func (f *diffFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.given = flags.Changed
	flags.StringVar(&f.base, "base", "", "compare with the merge base with this `REV`")
	flags.StringVar(&f.head, "head", "", "compare this `REV` instead of the work tree")
	flags.StringVar(&f.basePath, "base-path", "", "compare with this plain `DIR` instead of a revision; no git")
	flags.Var(&f.roots, "roots", "only the roots that match this `GLOB`; ** crosses directories (repeatable)")
	flags.Var(&f.loadRestrictor, "load-restrictor", "kustomize's: `RESTRICTOR` is "+strings.Join(f.loadRestrictor.known, " or "))
	flags.StringVar(&f.config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	flags.Var(&f.format, "format", "`FORMAT` on stdout: "+strings.Join(f.format.known, ", "))
	flags.Var(&f.color, "color", "`WHEN` to colour text: auto, always or never")
	f.cache.register(flags)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say more: what was compared, all remarks")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "say less: no progress, only the diff")
	for _, c := range []struct {
		name  string
		known []string
	}{{"format", f.format.known}, {"color", f.color.known}, {"load-restrictor", f.loadRestrictor.known}} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(c.name, cobra.FixedCompletions(
			toCompletions(c.known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// check refuses flags that contradict each other, and a diff without a base.
func (f *diffFlags) check() error {
	if err := f.scanFlags.check(); err != nil {
		return err
	}
	if f.base == "" && f.basePath == "" {
		return usagef("there is nothing to compare with: give a revision with --base, like origin/main, or a directory with --base-path")
	}
	return nil
}

// diffLimits returns the limits of the diff in a report, nil if the report has no diff.
func (f *scanFlags) diffLimits() *diff.Limits {
	if !f.diff {
		return nil
	}
	return &diff.Limits{}
}

// printedLimits returns the limits of a printed diff: more than anybody reads, but small
// enough for the memory.
func printedLimits() *diff.Limits {
	return &diff.Limits{Objects: 100_000, ObjectBytes: 8 << 20, TotalBytes: 64 << 20}
}

// runDiff runs the command: it opens the trees, and writes their difference to stdout.
func runDiff(ctx context.Context, p Process, f *diffFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	change, err := openChange(f.scanFlags)
	if err != nil {
		return err
	}
	cfg, remarks, err := loadConfig(f.scanFlags, change)
	if err != nil {
		return err
	}
	cache, err := f.openCache()
	if err != nil {
		return err
	}
	defer closeCache(p.Stderr, cache)
	f.explain(p.Stderr, change)
	progress := newProgress(p, f.quiet)
	result, err := scanner.Compare(ctx, scanner.Input{
		Base: change.base, Head: change.head, Config: cfg, Diff: printedLimits(),
		Render: renderOptions(p, cfg.LoadRestrictor, cache), Version: ownVersion(), Progress: progress.update,
	})
	progress.erase()
	if err != nil {
		return scanError(ctx, err)
	}
	result.Diagnostics = append(remarks, result.Diagnostics...)
	opts := format.Options{Verbose: f.verbose, Quiet: f.quiet, Color: useColor(p, f.color.value), Width: columns(p.Stdout)}
	if err := format.WriteDiff(p.Stdout, f.format.value, result, opts); err != nil {
		return err
	}
	return diffVerdict(result)
}

// diffVerdict returns the error that ends a run with this comparison.
func diffVerdict(c *report.Comparison) error {
	if n := len(c.Indeterminate); n > 0 {
		return &exitError{code: exitIncomplete, err: fmt.Errorf("the diff is incomplete: %s not render", count(n, "root that the change touches does", "roots that the change touches do"))}
	}
	if len(c.Changes.Objects)+c.Changes.LeftOut > 0 {
		return errFindings
	}
	return nil
}
