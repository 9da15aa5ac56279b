package preadmit_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A package that can be known has so many files, and lines in them, tests aside.
const (
	mostFiles = 26
	mostLines = 4000
)

// TestPackagesAreSmall counts the files and lines of each package.
func TestPackagesAreSmall(t *testing.T) {
	for dir, p := range packagesOf(t) {
		if p.files > mostFiles || p.lines > mostLines {
			t.Errorf("%s has %d files of %d lines, want at most %d of %d: move one of its concepts to a package of its own",
				dir, p.files, p.lines, mostFiles, mostLines)
		}
	}
}

// packageSize is how large a package is, tests aside.
type packageSize struct{ files, lines int }

// packagesOf returns the packages of the module by their directories.
func packagesOf(t *testing.T) map[string]packageSize {
	t.Helper()
	packages := map[string]packageSize{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(file, entry.Name())
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		p := packages[dir]
		packages[dir] = packageSize{p.files + 1, p.lines + bytes.Count(text, []byte("\n"))}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Error("found no packages at all")
	}
	return packages
}

// TestImageHasWhatGitTracks holds that an image is built of all that git tracks: without some
// of it, git calls the tree changed, and the program's version ends in +dirty.
func TestImageHasWhatGitTracks(t *testing.T) {
	data, err := os.ReadFile(".dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		pattern := strings.TrimSpace(line)
		if pattern == "" || pattern[0] == '#' {
			continue
		}
		tracked, err := exec.CommandContext(t.Context(), "git", "ls-files", "--", ":(glob)"+strings.TrimPrefix(pattern, "/")).Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(tracked) > 0 {
			t.Errorf("%s leaves out of the image's context what git tracks:\n%s", pattern, tracked)
		}
	}
}
