package gittree

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// linkReader provides what the resolution of symbolic links needs. Paths passed to it contain no links.
type linkReader struct {
	// entry returns the type of an entry of a directory.
	entry    func(dir, base string) (fs.FileMode, error)
	readLink func(name string) (string, error)
}

// resolveLinks returns the path that name leads to, without symbolic links (the last element may be one if follow is
// not set). Links must not leave the tree.
func resolveLinks(name string, follow bool, tree linkReader) (string, error) {
	rest, done := name, "."
	for links := 0; rest != "." && rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		mode, err := tree.entry(done, first)
		if err != nil {
			return "", err
		}
		at := path.Join(done, first)
		if mode&fs.ModeSymlink == 0 || (rest == "" && !follow) {
			if rest != "" && !mode.IsDir() {
				return "", errors.Join(errNotDir, fs.ErrNotExist)
			}
			done = at
			continue
		}
		if links++; links > maxLinks {
			return "", errLoop
		}
		to, err := tree.readLink(at)
		if err != nil {
			return "", err
		}
		if rest, err = linkTarget(done, to, rest); err != nil {
			return "", err
		}
		done = "."
	}
	return done, nil
}

// linkTarget returns the path, from the top of the tree, of rest below the target of a link in dir.
func linkTarget(dir, target, rest string) (string, error) {
	if path.IsAbs(target) {
		return "", errAbsolute
	}
	full := path.Join(dir, target)
	if full == ".." || strings.HasPrefix(full, "../") {
		return "", errOutside
	}
	return path.Join(full, rest), nil
}
