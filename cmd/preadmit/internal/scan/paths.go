package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// PathArguments returns the parser of the positional arguments of preadmit scan.
func PathArguments(f *Flags) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 1 && slices.Contains(args, "-"):
			return cli.Usagef("- is standard input, which is judged by itself: give no other PATH")
		case len(args) > 0:
			f.Path, f.more, f.named = args[0], args[1:], true
		}
		return nil
	}
}

// paths returns the positional arguments, or their default.
func (f *Flags) paths() []string { return append([]string{f.Path}, f.more...) }

// OpenInput opens the input that the flags and arguments of preadmit scan name: trees, files
// or standard input.
func OpenInput(ctx context.Context, stdin io.Reader, f *Flags) (*Change, error) {
	c, err := openInput(ctx, stdin, f)
	if c != nil {
		c.Head.Named = f.named
	}
	return c, err
}

func openInput(ctx context.Context, stdin io.Reader, f *Flags) (*Change, error) {
	paths := f.paths()
	if f.Path == "-" {
		return openStdin(ctx, stdin, f)
	}
	for _, name := range paths {
		switch info, err := os.Stat(name); {
		case err != nil && strings.Contains(name, "://"):
			return nil, cli.Usagef("PATH: a scan reads no URL: get %s first, and give the file", name)
		case err != nil && f.Given("fetch") && slices.Contains([]string{"off", "locked", "asked"}, name):
			return nil, cli.Usagef("PATH: there is no file or directory %s: the value of --fetch follows =, as in --fetch=%[1]s", name)
		case err != nil:
			return nil, cli.Usagef("PATH: %w", err)
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil, cli.Usagef("PATH: %s is neither a file nor a directory", name)
		}
	}
	switch {
	case len(paths) == 1 && (f.BasePath != "" || !f.named):
		return Open(f)
	case f.BasePath != "":
		return nil, cli.Usagef("--base-path compares two directories: give one directory as PATH, got %q", paths)
	}
	return openPaths(f, paths)
}

// openStdin makes standard input the head.
func openStdin(ctx context.Context, stdin io.Reader, f *Flags) (*Change, error) {
	if f.Base != "" || f.Head != "" || f.BasePath != "" {
		return nil, cli.Usagef("- is standard input, which has no revisions: it excludes --base, --head and --base-path")
	}
	if slices.Contains(f.Policies.Values, "-") || slices.Contains(f.Context.Values, "-") {
		return nil, cli.Usagef("- is standard input: give PATH, --policies or --context that way, not several")
	}
	extra, err := OpenExtra(ctx, io.TeeReader(stdin, &f.stdin), "-")
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(f.stdin.Bytes())) == 0 {
		return nil, cli.Usagef("PATH: standard input is empty: nothing to judge; did the command before it fail?")
	}
	return &Change{Head: scanner.Tree{FS: extra.FS, Under: []string{extra.Name}, Revision: report.Revision{Name: "standard input"}}}, nil
}

// openPaths opens several paths, or files, in their repository. Paths outside of a repository,
// and files that git ignores, are opened without git.
func openPaths(f *Flags, paths []string) (*Change, error) {
	repository, under, err := repositoryOf(paths)
	switch {
	case err != nil:
		return nil, err
	case len(paths) == 1 && repository == nil && isDirectory(paths[0]):
		return Open(f)
	case repository == nil && (f.Base != "" || f.Head != ""):
		return nil, cli.Usagef("--base and --head need a git repository, and %s is in none", paths[0])
	case repository == nil:
		return openWithoutGit(paths)
	}
	c, err := openRepository(repository, f)
	if err != nil {
		return nil, err
	}
	missing := c.missing(under)
	switch {
	case len(missing) == 0:
	case len(missing) == len(under) && f.Base == "" && f.Head == "":
		return openWithoutGit(paths)
	default:
		return nil, cli.Usagef("PATH: %s is not part of %s: git ignores it, or it is not in that commit", paths[missing[0]], c.Head.Revision.Name)
	}
	c.Head.Under = under
	if c.Base != nil {
		c.Base.Under = under
	}
	return c, nil
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// missing returns the indexes of the paths that neither tree has.
func (c *Change) missing(under []string) []int {
	var missing []int
	for i, name := range under {
		has := func(t *scanner.Tree) bool {
			if t == nil {
				return false
			}
			_, err := fs.Stat(t.FS, path.Clean(name))
			return err == nil
		}
		if !has(&c.Head) && !has(c.Base) {
			missing = append(missing, i)
		}
	}
	return missing
}

// repositoryOf opens the repository that all paths are in, and returns their paths in it. It
// returns nil if they are not in a repository.
func repositoryOf(paths []string) (found *gittree.Repository, under []string, err error) {
	outside := ""
	for _, name := range paths {
		dir, base := name, ""
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			dir, base = filepath.Split(name)
		}
		r, err := gittree.Open(filepath.Clean(dir))
		switch {
		case errors.Is(err, gittree.ErrNotRepository):
			outside = name
			continue
		case err != nil:
			return nil, nil, err
		case found == nil:
			found = r
		case found.Root() != r.Root():
			return nil, nil, cli.Usagef("PATH: %s and %s are in different repositories: scan one after the other", paths[0], name)
		}
		under = append(under, path.Join(r.Prefix(), base))
	}
	if found != nil && outside != "" {
		return nil, nil, cli.Usagef("PATH: %s is in no repository, unlike others: scan one after the other", outside)
	}
	return found, under, nil
}

// openWithoutGit opens a change whose head is a tree with only these paths.
func openWithoutGit(paths []string) (*Change, error) {
	var absolute []string
	for _, name := range paths {
		real, err := filepath.Abs(name)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if err != nil {
			return nil, cli.Usagef("PATH: %w", err)
		}
		absolute = append(absolute, real)
	}
	top := filepath.Dir(absolute[0])
	for _, name := range absolute {
		for !isBelow(top, name) {
			top = filepath.Dir(top)
		}
	}
	under, err := gittree.Dir(top)
	if err != nil {
		return nil, cli.Usagef("PATH: %w", err)
	}
	c := &Change{}
	view := &someFS{under: under.(plainFS)}
	for _, name := range absolute {
		rel, err := filepath.Rel(top, name)
		if err != nil {
			return nil, fmt.Errorf("find %s in %s: %w", name, top, err)
		}
		view.paths = append(view.paths, filepath.ToSlash(rel))
	}
	c.Note("without git, and of %s only what was named", top)
	c.Head = scanner.Tree{FS: view, Under: view.paths, Revision: report.Revision{Name: strings.Join(paths, ", ")}}
	return c, nil
}

// isBelow reports whether a path is strictly below a directory.
func isBelow(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// plainFS has the interfaces of the file system that gittree.Dir returns.
type plainFS interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
}

// someFS is a file system with some paths of a directory, and their parent directories.
type someFS struct {
	under plainFS
	paths []string
}

// shown reports whether a name is in the file system. whole is set if it is one of the paths
// or below one.
func (s *someFS) shown(name string) (whole, ok bool) {
	for _, p := range s.paths {
		if p == name || strings.HasPrefix(name, p+"/") {
			return true, true
		}
		ok = ok || name == "." || strings.HasPrefix(p, name+"/")
	}
	return false, ok
}

func (s *someFS) check(op, name string) error {
	if _, ok := s.shown(name); !ok {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return nil
}

// Open implements fs.FS.
func (s *someFS) Open(name string) (fs.File, error) {
	if err := s.check("open", name); err != nil {
		return nil, err
	}
	if whole, _ := s.shown(name); whole {
		return s.under.Open(name)
	}
	about, err := s.under.Stat(name)
	if err != nil {
		return nil, err
	}
	entries, err := s.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return memfs.NewDir(about, entries), nil
}

// ReadDir implements fs.ReadDirFS.
func (s *someFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.check("open", name); err != nil {
		return nil, err
	}
	entries, err := s.under.ReadDir(name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		_, ok := s.shown(path.Join(name, e.Name()))
		return !ok
	}), err
}

// ReadFile implements fs.ReadFileFS.
func (s *someFS) ReadFile(name string) ([]byte, error) {
	if err := s.check("open", name); err != nil {
		return nil, err
	}
	return s.under.ReadFile(name)
}

// Stat implements fs.StatFS.
func (s *someFS) Stat(name string) (fs.FileInfo, error) {
	if err := s.check("stat", name); err != nil {
		return nil, err
	}
	return s.under.Stat(name)
}

// Lstat implements fs.ReadLinkFS.
func (s *someFS) Lstat(name string) (fs.FileInfo, error) {
	if err := s.check("lstat", name); err != nil {
		return nil, err
	}
	return s.under.Lstat(name)
}

// ReadLink implements fs.ReadLinkFS.
func (s *someFS) ReadLink(name string) (string, error) {
	if err := s.check("readlink", name); err != nil {
		return "", err
	}
	return s.under.ReadLink(name)
}
