package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// Change has the two trees to compare.
type Change struct {
	Base *scanner.Tree // nil if everything is new
	Head scanner.Tree
	// Remotes are URLs of the repository.
	Remotes []string
	// WorkTree is set when the head is the work tree.
	WorkTree bool
	// Notes describe which trees were chosen, for -v.
	Notes []string
	// Remarks are diagnostics for the report, on what was fetched without a lock.
	Remarks []report.Diagnostic
}

// Note adds a note.
func (c *Change) Note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// Open opens the trees that the flags name.
func Open(f *Flags) (*Change, error) {
	if err := CheckDirectory("PATH", f.Path); err != nil {
		return nil, err
	}
	if f.BasePath != "" {
		return openDirectories(f)
	}
	repository, err := gittree.Open(f.Path)
	switch {
	case err == nil:
		return openRepository(repository, f)
	case f.Base != "":
		return nil, cli.Usagef("--base needs a git repository: %w\nuse --base-path to compare plain directories", err)
	case f.Head != "":
		return nil, cli.Usagef("--head needs a git repository: %w", err)
	case !errors.Is(err, gittree.ErrNotRepository):
		return nil, err
	}
	c := &Change{}
	c.Note("without git: %v", err)
	c.Head, err = Directory(f.Path)
	return c, err
}

func openRepository(r *gittree.Repository, f *Flags) (c *Change, err error) {
	if f.Base != "" {
		c, err = openComparison(r, f)
	} else {
		c, err = openSingle(r, f)
	}
	if c != nil {
		c.Remotes = r.Remotes()
	}
	return c, err
}

// CheckDirectory returns an error if a path is not a directory. what names the argument.
func CheckDirectory(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cli.Usagef("%s: %w", what, err)
	case !info.IsDir():
		return cli.Usagef("%s: %s is not a directory", what, path)
	}
	return nil
}

// Directory opens a plain directory.
func Directory(path string) (scanner.Tree, error) {
	tree, err := gittree.Dir(path)
	if err != nil {
		return scanner.Tree{}, cli.Usagef("%w", err)
	}
	return scanner.Tree{FS: tree, Revision: report.Revision{Name: filepath.ToSlash(filepath.Clean(path))}}, nil
}

func openDirectories(f *Flags) (*Change, error) {
	if err := CheckDirectory("--base-path", f.BasePath); err != nil {
		return nil, err
	}
	base, err := Directory(f.BasePath)
	if err != nil {
		return nil, err
	}
	head, err := Directory(f.Path)
	return &Change{Base: &base, Head: head}, err
}

// openSingle opens head, without a base.
func openSingle(r *gittree.Repository, f *Flags) (*Change, error) {
	c := &Change{}
	if f.Head == "" {
		return c, c.OpenWorkTree(r)
	}
	commit, err := Resolve(r, "--head", f.Head)
	if err != nil {
		return nil, err
	}
	c.Head = TreeOf(r, commit, f.Head)
	return c, nil
}

// openComparison opens head and its merge base with --base.
func openComparison(r *gittree.Repository, f *Flags) (*Change, error) {
	onto, err := Resolve(r, "--base", f.Base)
	if err != nil {
		return nil, err
	}
	flag, name := "--head", f.Head
	if name == "" {
		flag, name = "--base", "HEAD"
	}
	tip, err := Resolve(r, flag, name)
	if err != nil {
		return nil, err
	}
	fork, err := r.MergeBase(onto, tip)
	if err != nil {
		return nil, err
	}
	base := TreeOf(r, fork, f.Base)
	c := &Change{Base: &base}
	c.Note("base is %s, the merge base of %s (%s) and %s (%s)", fork.Hash(), f.Base, onto.Hash(), name, tip.Hash())
	if f.Head == "" {
		return c, c.OpenWorkTree(r)
	}
	c.Head = TreeOf(r, tip, f.Head)
	return c, nil
}

// Resolve returns the commit that a flag names.
func Resolve(r *gittree.Repository, flag, rev string) (*gittree.Commit, error) {
	commit, err := r.Commit(rev)
	if err != nil {
		return nil, cli.Usagef("%s: %w", flag, err)
	}
	return commit, nil
}

// TreeOf returns the tree of a commit. name is the revision as the user gave it.
func TreeOf(r *gittree.Repository, c *gittree.Commit, name string) scanner.Tree {
	return scanner.Tree{
		FS: c.FS(), Under: []string{r.Prefix()},
		Revision: report.Revision{Name: name, Commit: c.Hash()},
	}
}

// OpenWorkTree makes the work tree the head.
func (c *Change) OpenWorkTree(r *gittree.Repository) error {
	tree, err := r.WorkTree()
	if err != nil {
		return cli.Usagef("%w; name a commit with --head", err)
	}
	c.Head = scanner.Tree{FS: tree, Under: []string{r.Prefix()}, Revision: report.Revision{Name: "work tree"}}
	c.WorkTree = true
	c.Note("head is the work tree, uncommitted changes included")
	return nil
}

// baseFS returns the files of the base, nil without a base.
func (c *Change) baseFS() fs.FS {
	if c.Base == nil {
		return nil
	}
	return c.Base.FS
}
