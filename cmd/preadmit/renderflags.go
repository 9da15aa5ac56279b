package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// renderFlags are the flags of preadmit render: some flags of scan, and its own.
type renderFlags struct {
	scan                *scan.Flags
	rev, tree           string
	origin, showSecrets bool
	field, object       string
	// all is set to print all units, in format; entries are the directories of entry points.
	all     bool
	format  string
	entries []string
	// unit is KIND/NAMESPACE/NAME of the object that defines the unit to print.
	unit string
	// remotes are URLs of the repository, set by open.
	remotes []string
	// alone is set by open if ROOT is the whole tree, because it is in no repository.
	alone bool
}

func newRenderFlags() *renderFlags { return &renderFlags{scan: scan.NewFlags()} }

// register declares the flags on cmd.
func (f *renderFlags) register(cmd *cobra.Command) {
	flags, s := cmd.Flags(), f.scan
	flags.SortFlags = false
	s.Given = flags.Changed
	flags.BoolVar(&f.origin, "origin", false, "append to every value the place where it is written")
	flags.StringVar(&f.field, "field", "", "print only this `FIELD` and its place, such as spec.containers[0].image or metadata.labels[app]")
	flags.StringVar(&f.object, "object", "", "print only objects with this `[KIND/]NAME`")
	flags.BoolVar(&f.all, "all", false, "print every unit that the repository deploys, with its objects")
	s.Artifacts.RegisterGiven(flags)
	s.Artifacts.RegisterDir(flags)
	flags.StringVar(&f.format, "format", "", "`FORMAT` of --all: json")
	f.registerEntries(cmd)
	flags.StringVar(&f.rev, "rev", "", "render this revision `REV` instead of the work tree")
	flags.StringVar(&f.tree, "tree", "", "ROOT is a path in this directory `DIR`, which has all files that it uses; without git")
	flags.BoolVar(&f.showSecrets, "show-secrets", false, "do not mask values of Secrets")
	flags.Var(&s.LoadRestrictor, "load-restrictor", "`RESTRICTOR` of the files that kustomizations may load: "+strings.Join(s.LoadRestrictor.Known, " or "))
	s.Release.Register(cmd)
	flags.StringVar(&s.Config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	complete := func(name string, directive cobra.ShellCompDirective, known ...string) {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(cli.Completions(known), directive))
	}
	complete("load-restrictor", cobra.ShellCompDirectiveNoFileComp, s.LoadRestrictor.Known...)
	complete("field", cobra.ShellCompDirectiveNoFileComp)
	complete("object", cobra.ShellCompDirectiveNoFileComp)
	complete("rev", cobra.ShellCompDirectiveNoFileComp)
	complete("tree", cobra.ShellCompDirectiveFilterDirs)
}

// registerTree declares the flags of preadmit tree on cmd.
func (f *renderFlags) registerTree(cmd *cobra.Command) {
	flags, s := cmd.Flags(), f.scan
	flags.SortFlags = false
	s.Given = flags.Changed
	f.all = true
	f.registerEntries(cmd)
	s.Artifacts.RegisterGiven(flags)
	s.Artifacts.RegisterDir(flags)
	flags.StringVar(&f.format, "format", "", "`FORMAT` json (default text)")
	flags.StringVar(&f.rev, "rev", "", "read this revision `REV` instead of the work tree")
	flags.StringVar(&f.tree, "tree", "", "read this directory `DIR`, without git")
	s.Release.Register(cmd)
	flags.StringVar(&s.Config, "config", "", "configuration `FILE` to use instead of the repository's "+config.FileName)
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("rev", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("tree", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

func (f *renderFlags) registerEntries(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.entries, "entry", nil, "use this directory `DIR` as an entry point, such as clusters/production, instead of those that preadmit finds")
	_ = cmd.RegisterFlagCompletionFunc("entry", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)) // it exists
}

// check returns an error if flags are invalid or contradict each other.
func (f *renderFlags) check() error {
	for _, empty := range []struct{ name, value, like string }{
		{"field", f.field, "a field, like spec.replicas"},
		{"object", f.object, "a name, like web or Deployment/web"},
		{"rev", f.rev, "a revision, like HEAD~1"},
		{"tree", f.tree, "a directory"},
	} {
		if f.scan.Given(empty.name) && empty.value == "" {
			return cli.Usagef("--%s is empty: give %s", empty.name, empty.like)
		}
	}
	if err := f.scan.Release.Check(); err != nil {
		return err
	}
	switch {
	case f.format != "" && !f.all:
		return cli.Usagef("--format is for --all")
	case f.format != "" && f.format != "json":
		return cli.Usagef("--format %s: want json", f.format)
	case strings.HasPrefix(f.object, "/") || strings.HasSuffix(f.object, "/"):
		return cli.Usagef("--object %s: want [KIND/]NAME, like web or Deployment/web", f.object)
	case f.rev != "" && f.tree != "":
		return cli.Usagef("--tree names a plain directory and excludes --rev")
	case f.field != "" && f.origin:
		return cli.Usagef("--field shows the place of the field, and cannot be used with --origin")
	}
	return nil
}

// open opens the tree that ROOT is in, and returns the path of ROOT in it.
func (f *renderFlags) open() (tree scanner.Tree, dir string, err error) {
	switch {
	case f.tree != "":
		return f.openTree()
	case f.rev != "":
		return f.openRevision()
	}
	if err := scan.CheckDirectory("ROOT", f.scan.Path); err != nil {
		return tree, "", err
	}
	repository, err := gittree.Open(f.scan.Path)
	switch {
	case errors.Is(err, gittree.ErrNotRepository):
		f.alone = true
		tree, err = scan.Directory(f.scan.Path)
		return tree, ".", err
	case err != nil:
		return tree, "", err
	}
	f.remotes = repository.Remotes()
	workTree, err := repository.WorkTree()
	if err != nil {
		return tree, "", cli.Usagef("%w; name a commit with --rev", err)
	}
	dir = repository.Prefix()
	if _, err := fs.Stat(workTree, dir); err != nil {
		return tree, "", cli.Usagef("ROOT: %s is not part of the work tree: git ignores it, or there is no file in it", f.scan.Path)
	}
	return scanner.Tree{FS: workTree, Under: []string{dir}}, dir, nil
}

// openTree opens the plain directory of --tree.
func (f *renderFlags) openTree() (tree scanner.Tree, dir string, err error) {
	dir = path.Clean(filepath.ToSlash(f.scan.Path))
	if !fs.ValidPath(dir) {
		return tree, "", cli.Usagef("ROOT: %s is not a path inside --tree %s", f.scan.Path, f.tree)
	}
	if err := scan.CheckDirectory("--tree", f.tree); err != nil {
		return tree, "", err
	}
	if err := scan.CheckDirectory("ROOT", filepath.Join(f.tree, dir)); err != nil {
		return tree, "", err
	}
	tree, err = scan.Directory(f.tree)
	return tree, dir, err
}

// openRevision opens a commit. ROOT need not exist in the work tree.
func (f *renderFlags) openRevision() (tree scanner.Tree, dir string, err error) {
	there, gone := nearestDirectory(f.scan.Path)
	repository, err := gittree.Open(there)
	if err != nil {
		return tree, "", cli.Usagef("--rev needs a git repository: %w", err)
	}
	f.remotes = repository.Remotes()
	commit, err := scan.Resolve(repository, "--rev", f.rev)
	if err != nil {
		return tree, "", err
	}
	tree = scan.TreeOf(repository, commit, f.rev)
	dir = path.Join(repository.Prefix(), gone)
	info, err := fs.Stat(tree.FS, dir)
	switch {
	case err != nil:
		return tree, "", cli.Usagef("ROOT: there is no %s in %s", dir, f.rev)
	case !info.IsDir():
		return tree, "", cli.Usagef("ROOT: %s is not a directory in %s", dir, f.rev)
	}
	return tree, dir, nil
}

// nearestDirectory splits a path into a directory that exists and the rest, with slashes.
func nearestDirectory(name string) (there, gone string) {
	there = filepath.Clean(name)
	for {
		if info, err := os.Stat(there); err == nil && info.IsDir() || there == filepath.Dir(there) {
			return there, gone
		}
		gone = path.Join(filepath.Base(there), gone)
		there = filepath.Dir(there)
	}
}
