package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Not is the prefix of a glob that excludes what it matches and everything below it, whatever other
// globs select.
const Not = "!"

// Chooses reports whether globs select something with the given names. It must not be excluded, and
// must match a positive glob unless there are only exclusions. No globs select nothing.
func Chooses(globs []string, names ...string) bool {
	leaveOut, chosen := false, false
	for _, glob := range globs {
		if rest, ok := strings.CutPrefix(glob, Not); ok {
			if slices.ContainsFunc(names, func(name string) bool { return matchAbove(rest, name) }) {
				return false
			}
			leaveOut = true
		}
	}
	for _, glob := range Positive(globs) {
		leaveOut = false
		chosen = chosen || slices.ContainsFunc(names, func(name string) bool { return MatchGlob(glob, name) })
	}
	return chosen || leaveOut
}

// Positive returns the globs that select rather than exclude.
func Positive(globs []string) []string {
	return slices.DeleteFunc(slices.Clone(globs), func(glob string) bool { return strings.HasPrefix(glob, Not) })
}

// matchAbove reports whether a glob matches a name or a directory above it.
func matchAbove(glob, name string) bool {
	for !MatchGlob(glob, name) {
		if name = path.Dir(name); name == "." {
			return false
		}
	}
	return true
}

// MatchGlob reports whether a slash-separated name matches a glob. In a glob ** matches any number
// of directories, including none; within a directory name the syntax is that of path.Match. A glob
// that CheckGlob rejects matches nothing. The top directory is ".", which only "." and ** match.
func MatchGlob(glob, name string) bool {
	return matchSegments(segments(glob), segments(name))
}

// segments returns the directory names of a path; the top has none.
func segments(p string) []string {
	if p = path.Clean(p); p == "." {
		return nil
	}
	return strings.Split(p, "/")
}

func matchSegments(glob, name []string) bool {
	for len(glob) > 0 {
		if glob[0] == "**" {
			return matchDeep(glob[1:], name)
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(glob[0], name[0]); err != nil || !ok {
			return false
		}
		glob, name = glob[1:], name[1:]
	}
	return len(name) == 0
}

// matchDeep matches the rest of a glob after ** at every depth of name. Repeated ** are merged, and
// the first match of the part before the next ** is final, so the work stays polynomial.
func matchDeep(rest, name []string) bool {
	for len(rest) > 0 && rest[0] == "**" {
		rest = rest[1:]
	}
	fixed := slices.Index(rest, "**")
	if fixed < 0 {
		return len(name) >= len(rest) && matchSegments(rest, name[len(name)-len(rest):])
	}
	for i := 0; i+fixed <= len(name); i++ {
		if matchSegments(rest[:fixed], name[i:i+fixed]) {
			return matchDeep(rest[fixed:], name[i+fixed:])
		}
	}
	return false
}

// CheckGlob returns an error if a glob is invalid: it must be separated by slashes and relative to
// the top of the tree, with the syntax of path.Match within a directory name and ** for any number
// of directories. It may have the prefix Not.
func CheckGlob(glob string) error {
	glob = strings.TrimPrefix(glob, Not)
	if glob == "" {
		return errors.New("empty glob")
	}
	if path.IsAbs(glob) {
		return fmt.Errorf("glob %q is absolute: roots are relative to the top of the repository", glob)
	}
	for _, segment := range strings.Split(glob, "/") {
		if segment == ".." {
			return fmt.Errorf("glob %q leaves the repository", glob)
		}
		if _, err := path.Match(segment, ""); err != nil {
			return fmt.Errorf("invalid glob %q: syntax error in %q", glob, segment)
		}
	}
	return nil
}
