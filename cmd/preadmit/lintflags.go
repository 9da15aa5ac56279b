package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// lintFlags are the flags of preadmit lint: some flags of scan, and its own.
type lintFlags struct {
	scan    *scan.Flags
	alone   bool
	failOn  cli.Choice
	disable cli.Words
}

func newLintFlags() *lintFlags {
	scan := scan.NewFlags()
	scan.Format.Known = format.LintFormats()
	return &lintFlags{
		scan:    scan,
		failOn:  cli.Choice{Value: "error", Known: report.LintFailOnValues()},
		disable: cli.Words{Kind: "RULE"},
	}
}

// register declares the flags on cmd.
func (f *lintFlags) register(cmd *cobra.Command) {
	flags, s := cmd.Flags(), f.scan
	flags.SortFlags = false
	s.Given = flags.Changed
	flags.BoolVar(&f.alone, "alone", false, "read only PATH, not the repository that it is in")
	flags.Var(&s.Policies, "policies", "`PATH` of YAML with more policies and bindings that exist (repeatable)")
	flags.Var(&s.Context, "context", "YAML `FILE` with Namespaces, CRDs, params, RBAC and policies of a cluster, - for stdin (repeatable)")
	flags.Var(&s.Roots, "roots", "only roots that match this `GLOB`; ** matches any number of directories (repeatable)")
	flags.StringVar(&s.As, "as", "", "`USER` who creates the policies; their rights to read params are checked")
	flags.Var(&s.AsGroups, "as-group", "`GROUP` of that user (repeatable)")
	flags.Var(&s.LoadRestrictor, "load-restrictor", "`RESTRICTOR` of the files that kustomizations may load: "+strings.Join(s.LoadRestrictor.Known, " or "))
	s.Release.Register(cmd)
	flags.StringVar(&s.Config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	flags.Var(&f.disable, "disable", "disable this `RULE` (repeatable)")
	flags.Var(&f.failOn, "fail-on", "weakest `SEVERITY` that fails the run: "+strings.Join(f.failOn.Known, ", "))
	flags.Var(&s.Format, "format", "`FORMAT` of the report on stdout: "+strings.Join(s.Format.Known, ", "))
	flags.VarP(&s.Outputs, "output", "o", "also write the report to a file, `[FORMAT=]FILE`, - for stdout (repeatable)")
	flags.Var(&s.Color, "color", "`WHEN` to use colours in text: auto, always or never")
	s.Cache.Register(flags)
	s.Artifacts.RegisterDir(flags)
	flags.BoolVarP(&s.Verbose, "verbose", "v", false, "print more: objects, roots, all remarks")
	flags.BoolVarP(&s.Quiet, "quiet", "q", false, "print only errors and the summary")
	for name, known := range map[string][]string{
		"fail-on": f.failOn.Known, "format": s.Format.Known, "disable": report.LintRuleIDs(),
		"color": s.Color.Known, "load-restrictor": s.LoadRestrictor.Known,
	} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(
			cli.Completions(known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// tree opens the tree that PATH is in, and returns the path of what to lint in it.
func (f *lintFlags) tree(ctx context.Context, stdin io.Reader) (tree scanner.Tree, under string, err error) {
	if f.scan.Path == "-" {
		return loneTree(ctx, stdin, "-")
	}
	info, err := os.Stat(f.scan.Path)
	switch {
	case err != nil:
		return tree, "", cli.Usagef("PATH: %w", err)
	case info.IsDir() && f.alone:
		tree, err := scan.Directory(f.scan.Path)
		return tree, "", err
	case info.IsDir():
		c, err := scan.Open(f.scan)
		if err != nil {
			return tree, "", err
		}
		return c.Head, append(c.Head.Under, ".")[0], nil
	case !info.Mode().IsRegular():
		return tree, "", cli.Usagef("PATH: %s is neither a file nor a directory", f.scan.Path)
	case f.alone:
		return loneTree(ctx, nil, f.scan.Path)
	}
	return fileTree(ctx, f.scan.Path)
}

// fileTree opens the repository that a file is part of. For a file that is in none, or is
// ignored there, it returns a tree of that file.
func fileTree(ctx context.Context, name string) (scanner.Tree, string, error) {
	dir, base := filepath.Split(name)
	repository, err := gittree.Open(filepath.Clean(dir))
	switch {
	case errors.Is(err, gittree.ErrNotRepository):
		return loneTree(ctx, nil, name)
	case err != nil:
		return scanner.Tree{}, "", err
	}
	c := &scan.Change{}
	if err := c.OpenWorkTree(repository); err != nil {
		return scanner.Tree{}, "", err
	}
	under := path.Join(repository.Prefix(), base)
	if _, err := fs.Stat(c.Head.FS, under); err != nil {
		return loneTree(ctx, nil, name)
	}
	return c.Head, under, nil
}

// loneTree returns a tree of one file, or of stdin.
func loneTree(ctx context.Context, stdin io.Reader, name string) (scanner.Tree, string, error) {
	extra, err := scan.OpenExtra(ctx, stdin, name)
	if err != nil {
		return scanner.Tree{}, "", cli.Usagef("PATH: %w", err)
	}
	return scanner.Tree{FS: extra.FS, Revision: report.Revision{Name: extra.Name}}, "", nil
}
