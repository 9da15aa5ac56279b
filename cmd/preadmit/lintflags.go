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

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// lintFlags are the flags of preadmit lint: some flags of scan, and its own.
type lintFlags struct {
	scan    *scanFlags
	alone   bool
	failOn  choice
	disable words
}

func newLintFlags() *lintFlags {
	scan := newScanFlags()
	scan.format.known = format.LintFormats()
	return &lintFlags{
		scan:    scan,
		failOn:  choice{value: "error", known: report.LintFailOnValues()},
		disable: words{kind: "RULE"},
	}
}

// register declares the flags on cmd.
func (f *lintFlags) register(cmd *cobra.Command) {
	flags, s := cmd.Flags(), f.scan
	flags.SortFlags = false
	s.given = flags.Changed
	flags.BoolVar(&f.alone, "alone", false, "look at PATH alone, not at the repository around it")
	flags.Var(&s.policies, "policies", "policies and bindings that count as there: a `PATH` of YAML (repeatable)")
	flags.Var(&s.context, "context", "YAML `FILE` of a cluster's Namespaces, CRDs, params, RBAC and policies, - for stdin (repeatable)")
	flags.Var(&s.roots, "roots", "only the roots that match this `GLOB`; ** crosses directories (repeatable)")
	flags.StringVar(&s.as, "as", "", "the `USER` who creates the policies: may they read what paramKind and paramRef refer to?")
	flags.Var(&s.asGroups, "as-group", "a `GROUP` of that user (repeatable)")
	flags.Var(&s.loadRestrictor, "load-restrictor", "kustomize's: `RESTRICTOR` is "+strings.Join(s.loadRestrictor.known, " or "))
	flags.StringVar(&s.config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	flags.Var(&f.disable, "disable", "switch a `RULE` off (repeatable)")
	flags.Var(&f.failOn, "fail-on", "the weakest `SEVERITY` that fails the run: "+strings.Join(f.failOn.known, ", "))
	flags.Var(&s.format, "format", "`FORMAT` of the report on stdout: "+strings.Join(s.format.known, ", "))
	flags.VarP(&s.outputs, "output", "o", "also write the report to a file, `[FORMAT=]FILE`; - is stdout (repeatable)")
	flags.Var(&s.color, "color", "`WHEN` to colour text: auto, always or never")
	s.cache.register(flags)
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "say more: objects, roots, all remarks")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "say less: no progress, only errors and the summary")
	for name, known := range map[string][]string{
		"fail-on": f.failOn.known, "format": s.format.known, "disable": report.LintRuleIDs(),
		"color": s.color.known, "load-restrictor": s.loadRestrictor.known,
	} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(
			toCompletions(known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// tree opens the tree that PATH is in, and returns the path of what to lint in it.
func (f *lintFlags) tree(ctx context.Context, stdin io.Reader) (tree scanner.Tree, under string, err error) {
	if f.scan.path == "-" {
		return loneTree(ctx, stdin, "-")
	}
	info, err := os.Stat(f.scan.path)
	switch {
	case err != nil:
		return tree, "", usagef("PATH: %w", err)
	case info.IsDir() && f.alone:
		tree, err := directory(f.scan.path)
		return tree, "", err
	case info.IsDir():
		c, err := openChange(f.scan)
		if err != nil {
			return tree, "", err
		}
		return c.head, c.head.Under, nil
	case !info.Mode().IsRegular():
		return tree, "", usagef("PATH: %s is neither a file nor a directory", f.scan.path)
	case f.alone:
		return loneTree(ctx, nil, f.scan.path)
	}
	return fileTree(ctx, f.scan.path)
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
	c := &change{}
	if err := c.openWorkTree(repository); err != nil {
		return scanner.Tree{}, "", err
	}
	under := path.Join(c.head.Under, base)
	if _, err := fs.Stat(c.head.FS, under); err != nil {
		return loneTree(ctx, nil, name)
	}
	return c.head, under, nil
}

// loneTree returns a tree of one file, or of stdin.
func loneTree(ctx context.Context, stdin io.Reader, name string) (scanner.Tree, string, error) {
	extra, err := openExtra(ctx, stdin, name)
	if err != nil {
		return scanner.Tree{}, "", usagef("PATH: %w", err)
	}
	return scanner.Tree{FS: extra.FS, Revision: report.Revision{Name: extra.Name}}, "", nil
}
