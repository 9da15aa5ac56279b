package gittree

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// linkReader is what resolving symbolic links needs to know of a tree. Paths
// passed to it hold no links.
type linkReader struct {
	// entry returns the type of an entry of a directory.
	entry    func(dir, base string) (fs.FileMode, error)
	readLink func(name string) (string, error)
}

// resolveLinks rewrites name so that it passes no symbolic link (its last part
// may be one when follow is not set). Links lead inside the tree only.
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

// linkTarget is the path, from the top of the tree, of rest below the target of a
// link that lies in dir.
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
