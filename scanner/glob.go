package scanner

import (
	"path"
	"slices"
	"strings"
)

// matchAny reports whether one of the globs matches name.
func matchAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return matchGlob(glob, name) })
}

// matchGlob reports whether the slash-separated name matches glob, in which **
// stands for any number of directories, none included, and everything else means
// what it means to path.Match within one directory name. A glob that CheckGlob
// rejects matches nothing. The top directory is ".", which only "." and ** match.
func matchGlob(glob, name string) bool {
	return matchSegments(segments(glob), segments(name))
}

// segments splits a path into its directory names; the top has none.
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

// matchDeep matches the rest of a glob after ** at every depth of name. Repeated
// ** collapse, and a ** further on takes over, so the work stays polynomial.
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

// under reports whether the directory name is dir or below it.
func under(dir, name string) bool {
	if dir = path.Clean(dir); dir == "." {
		return true
	}
	return name == dir || strings.HasPrefix(name, dir+"/")
}
