package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// change has the two trees to compare.
type change struct {
	base *scanner.Tree // nil: everything is new
	head scanner.Tree
	// notes say which trees were chosen, for -v.
	notes []string
}

func (c *change) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// openChange opens the trees that the flags ask for.
func openChange(f *scanFlags) (*change, error) {
	if err := checkDirectory("PATH", f.path); err != nil {
		return nil, err
	}
	if f.basePath != "" {
		return openDirectories(f)
	}
	repository, err := gittree.Open(f.path)
	switch {
	case err == nil && f.base != "":
		return openComparison(repository, f)
	case err == nil:
		return openSingle(repository, f)
	case f.base != "":
		return nil, usagef("--base needs a git repository: %w\nuse --base-path to compare plain directories", err)
	case f.head != "":
		return nil, usagef("--head needs a git repository: %w", err)
	case !errors.Is(err, gittree.ErrNotRepository):
		return nil, err
	}
	c := &change{}
	c.note("without git: %v", err)
	c.head, err = directory(f.path)
	return c, err
}

func checkDirectory(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return usagef("%s: %w", what, err)
	case !info.IsDir():
		return usagef("%s: %s is not a directory", what, path)
	}
	return nil
}

func directory(path string) (scanner.Tree, error) {
	tree, err := gittree.Dir(path)
	if err != nil {
		return scanner.Tree{}, usagef("%w", err)
	}
	return scanner.Tree{FS: tree, Revision: report.Revision{Name: filepath.ToSlash(filepath.Clean(path))}}, nil
}

func openDirectories(f *scanFlags) (*change, error) {
	if err := checkDirectory("--base-path", f.basePath); err != nil {
		return nil, err
	}
	base, err := directory(f.basePath)
	if err != nil {
		return nil, err
	}
	head, err := directory(f.path)
	return &change{base: &base, head: head}, err
}

// openSingle opens head, without a base.
func openSingle(r *gittree.Repository, f *scanFlags) (*change, error) {
	c := &change{}
	if f.head == "" {
		return c, c.openWorkTree(r)
	}
	commit, err := resolve(r, "--head", f.head)
	if err != nil {
		return nil, err
	}
	c.head = treeOf(r, commit, f.head)
	return c, nil
}

// openComparison opens head and its merge base with --base.
func openComparison(r *gittree.Repository, f *scanFlags) (*change, error) {
	onto, err := resolve(r, "--base", f.base)
	if err != nil {
		return nil, err
	}
	name := f.head
	if name == "" {
		name = "HEAD"
	}
	tip, err := resolve(r, "--head", name)
	if err != nil {
		return nil, err
	}
	fork, err := r.MergeBase(onto, tip)
	if err != nil {
		return nil, err
	}
	base := treeOf(r, fork, f.base)
	c := &change{base: &base}
	c.note("base is %s, the merge base of %s (%s) and %s (%s)", fork.Hash(), f.base, onto.Hash(), name, tip.Hash())
	if f.head == "" {
		return c, c.openWorkTree(r)
	}
	c.head = treeOf(r, tip, f.head)
	return c, nil
}

func resolve(r *gittree.Repository, flag, rev string) (*gittree.Commit, error) {
	commit, err := r.Commit(rev)
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	return commit, nil
}

func treeOf(r *gittree.Repository, c *gittree.Commit, name string) scanner.Tree {
	return scanner.Tree{
		FS: c.FS(), Under: r.Prefix(),
		Revision: report.Revision{Name: name, Commit: c.Hash()},
	}
}

func (c *change) openWorkTree(r *gittree.Repository) error {
	tree, err := r.WorkTree()
	if err != nil {
		return usagef("%w; name a commit with --head", err)
	}
	c.head = scanner.Tree{FS: tree, Under: r.Prefix(), Revision: report.Revision{Name: "work tree"}}
	c.note("head is the work tree, uncommitted changes included")
	return nil
}

// baseFS returns the files of the base, nil without a base.
func (c *change) baseFS() fs.FS {
	if c.base == nil {
		return nil
	}
	return c.base.FS
}
