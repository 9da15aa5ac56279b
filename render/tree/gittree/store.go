package gittree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/helper/chroot"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// location has the places of a repository's parts on disk.
type location struct {
	gitDir string // HEAD, index
	common string // objects and refs; differs from gitDir in a linked work tree
	// workTree is empty for a bare repository.
	workTree string
}

// locate finds the repository of a directory (absolute, without symbolic links): the one with a `.git` in or above it,
// or else the directory itself if it is a bare repository. A directory inside a work tree that looks like a bare
// repository may be committed content; git never commits anything named .git.
func locate(named string) (location, error) {
	loc, err := enclosing(named)
	bare := isGitDir(named) && filepath.Base(named) != ".git"
	switch {
	case bare && errors.Is(err, ErrNotRepository), bare && err == nil && contains(loc.common, named):
		return located(named, "")
	}
	return loc, err
}

// contains reports whether path is dir or below it.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// enclosing finds the repository with a work tree at or above dir.
func enclosing(dir string) (location, error) {
	for {
		gitDir := filepath.Join(dir, ".git")
		switch info, err := os.Stat(gitDir); {
		case err == nil && info.IsDir():
			return located(gitDir, dir)
		case err == nil:
			target, err := readGitFile(gitDir)
			if err != nil {
				return location{}, err
			}
			return located(target, dir)
		case !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "not a directory"):
			return location{}, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return location{}, ErrNotRepository
		}
		dir = parent
	}
}

// ErrNotRepository is the error if neither the directory nor one above it is a git repository.
var ErrNotRepository = errors.New("not a git repository (nor any directory above it)")

func located(gitDir, workTree string) (location, error) {
	loc := location{gitDir: gitDir, common: gitDir, workTree: workTree}
	data, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return location{}, err
	default:
		loc.common = join(gitDir, strings.TrimSpace(string(data)))
	}
	if !isGitDir(loc.common) {
		return location{}, fmt.Errorf("%s is not a git repository", loc.common)
	}
	return loc, nil
}

// readGitFile returns the target of a `.git` file of a linked work tree or submodule.
func readGitFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := bytes.CutPrefix(data, []byte("gitdir:"))
	if !ok {
		return "", fmt.Errorf("%s has no gitdir: line", path)
	}
	return join(filepath.Dir(path), strings.TrimSpace(string(target))), nil
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func isGitDir(dir string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && !head.IsDir() && isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs"))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// openPacks limits the pack files that a store keeps open until it is garbage collected. Opening one for each object
// would take longer than reading the object.
const openPacks = 32

// store is go-git's storage. It accepts repository extensions that do not affect reading.
type store struct {
	*filesystem.Storage
	// common is the directory with the objects.
	common string
}

func openStore(loc location) (*store, error) {
	if _, err := os.ReadDir(loc.gitDir); err != nil {
		return nil, err
	}
	dot := filesOf(loc.gitDir)
	if loc.common != loc.gitDir {
		dot = dotgit.NewRepositoryFilesystem(dot, filesOf(loc.common))
	}
	alternates, err := alternateRoot(loc.common)
	if err != nil {
		return nil, err
	}
	return &store{filesystem.NewStorageWithOptions(dot, cache.NewObjectLRUDefault(), filesystem.Options{
		AlternatesFS: alternates, MaxOpenDescriptors: openPacks,
	}), loc.common}, nil
}

// beginning returns the hashes of objects that begin with some bytes, those of the alternates too, which go-git leaves
// out.
func (s *store) beginning(prefix []byte) ([]plumbing.Hash, error) {
	var all []plumbing.Hash
	seen := map[string]bool{s.common: true}
	for next := []string{s.common}; len(next) > 0; next = next[1:] {
		of := s.Storage
		if next[0] != s.common {
			of = filesystem.NewStorageWithOptions(filesOf(next[0]), cache.NewObjectLRUDefault(), filesystem.Options{MaxOpenDescriptors: openPacks})
		}
		hashes, err := of.HashesWithPrefix(prefix)
		if err != nil && next[0] == s.common {
			return nil, err
		}
		all = append(all, hashes...)
		for _, dir := range alternatesOf(next[0]) {
			if !seen[dir] && len(seen) <= maxAlternates {
				seen[dir] = true
				next = append(next, dir)
			}
		}
	}
	slices.SortFunc(all, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	return all, nil
}

// maxAlternates bounds the repositories that one takes objects from.
const maxAlternates = 50

// alternatesOf returns the repositories that objects/info/alternates of one names; none if it cannot be read.
func alternatesOf(common string) (all []string) {
	objects := filepath.Join(common, "objects")
	data, _ := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case !filepath.IsAbs(line):
			line = filepath.Join(objects, line)
		}
		all = append(all, filepath.Dir(filepath.Clean(line)))
	}
	return all
}

// filesOf returns a directory of a repository as a file system. As in git, symbolic links may leave it: repo and
// git-new-workdir link objects and refs to directories that several work trees share. go-git's own file system refuses
// such links.
func filesOf(dir string) billy.Filesystem { return chroot.New(&linkedOS{}, dir) }

// linkedOS is the file system of the operating system without visible links, so that the operating system follows them.
type linkedOS struct{ osfs.ChrootOS }

func (*linkedOS) Readlink(string) (string, error) { return "", billy.ErrNotSupported }

// alternateRoot returns the file system against which the lines of objects/info/alternates are resolved: go-git
// resolves relative ones against its root, git against the objects directory.
func alternateRoot(common string) (billy.Filesystem, error) {
	objects := filepath.Join(common, "objects")
	data, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &alternateFS{Filesystem: filesOf("/"), objects: objects, lines: strings.Fields(string(data))}, nil
}

// alternateFS maps the paths that go-git derives from relative alternates to git's paths.
type alternateFS struct {
	billy.Filesystem
	objects string
	lines   []string
}

func (a *alternateFS) Stat(path string) (os.FileInfo, error) {
	return os.Stat(a.real(path))
}

func (a *alternateFS) Chroot(path string) (billy.Filesystem, error) {
	for _, line := range a.lines {
		if rooted(line) != "" && filepath.Dir(rooted(line)) == path {
			return filesOf(filepath.Dir(filepath.Join(a.objects, line))), nil
		}
	}
	return filesOf(path), nil
}

func (a *alternateFS) real(path string) string {
	for _, line := range a.lines {
		if rooted(line) == path {
			return filepath.Join(a.objects, line)
		}
	}
	return path
}

// rooted returns the path that go-git uses for a relative alternate; empty for an absolute one.
func rooted(line string) string {
	if filepath.IsAbs(line) {
		return ""
	}
	return filepath.Join(string(filepath.Separator), line)
}

// Config omits the extensions that do not affect how objects and references are read, because go-git would refuse the
// repository.
func (s *store) Config() (*config.Config, error) {
	cfg, err := s.Storage.Config()
	if err != nil || cfg.Raw == nil || !cfg.Raw.HasSection("extensions") {
		return cfg, err
	}
	section := cfg.Raw.Section("extensions")
	for _, option := range append(section.Options[:0:0], section.Options...) {
		if harmlessExtension(option.Key, option.Value) {
			section.RemoveOption(option.Key)
		}
	}
	return cfg, nil
}

func harmlessExtension(key, value string) bool {
	switch strings.ToLower(key) {
	case "partialclone", "worktreeconfig", "preciousobjects", "relativeworktrees":
		return true
	case "objectformat":
		return strings.EqualFold(value, "sha1")
	case "refstorage":
		return strings.EqualFold(value, "files")
	}
	return false
}
