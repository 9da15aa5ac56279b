package gittree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/helper/chroot"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// location says where a repository's parts lie on disk.
type location struct {
	gitDir string // HEAD, index
	common string // objects and refs; differs from gitDir in a linked work tree
	// workTree is empty for a bare repository.
	workTree string
}

// locate finds the repository of a directory (absolute, no symlinks): the one whose
// `.git` is there or above, else the directory itself if it is a bare repository. A
// directory that only looks like one may be content of the work tree that it lies in,
// which is whatever somebody committed; git commits nothing that is named .git.
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

// ErrNotRepository: neither the directory nor one above it is a git repository.
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

// readGitFile follows a `.git` file, as linked work trees and submodules have.
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

// openPacks bounds the pack files that a store keeps open, until it is garbage
// collected. Opening one for each object would take longer than reading the object.
const openPacks = 32

// store is go-git's storage, tolerant of the repository extensions that make no
// difference to reading.
type store struct{ *filesystem.Storage }

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
	})}, nil
}

// filesOf is a directory of a repository. Symbolic links lead out of it, as they do for
// git: repo and git-new-workdir link objects and refs to where several work trees have
// them. go-git's own file system refuses such links.
func filesOf(dir string) billy.Filesystem { return chroot.New(&linkedOS{}, dir) }

// linkedOS is the operating system's files, with no links to be seen in them, so that
// the operating system follows them.
type linkedOS struct{ osfs.ChrootOS }

func (*linkedOS) Readlink(string) (string, error) { return "", billy.ErrNotSupported }

// alternateRoot is the file system that the lines of objects/info/alternates are
// resolved against: go-git reads relative ones from its root, git from the
// objects directory.
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

// alternateFS maps the paths go-git makes of relative alternates back to what
// git means by them.
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

// rooted is the path go-git looks a relative alternate up by, empty for an
// absolute one.
func rooted(line string) string {
	if filepath.IsAbs(line) {
		return ""
	}
	return filepath.Join(string(filepath.Separator), line)
}

// Config leaves out the extensions that do not change how objects and references
// are read, which go-git would refuse the repository for.
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
