package copies

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

// Part is the part of a source that an artifact consists of.
type Part struct {
	// Top is a directory of the source, and At its path in the artifact.
	Top, At string
	// Only are the directories and files below Top, or Top itself, that the artifact consists of.
	Only []string
}

// place is a copied directory or file: its path in the source and in the artifact.
type place struct {
	from, to string
	isDir    bool
}

// PartOf returns the part of a source, a directory of a tree, that copies make an artifact of. All files must have the
// same path below one directory of the artifact as below one of the source. If that is not so, or the controller fails,
// why is the reason.
func PartOf(source *tree.Tree, top string, all []Copy) (out Part, why string) {
	var places []place
	for _, c := range all {
		p, why := c.place(source, top, places)
		if why != "" {
			return out, fmt.Sprintf("%s, %s", c, why)
		}
		from, at := above(p.from, p.to)
		switch {
		case !p.isDir && from == p.from:
			return out, fmt.Sprintf("%s, which renames a file: that is not supported", c)
		case len(places) > 0 && (from != out.Top || at != out.At):
			return out, fmt.Sprintf("%s, another place than the other files have: that is not supported", c)
		}
		out.Top, out.At = from, at
		out.Only = append(out.Only, p.from)
		places = append(places, p)
	}
	return out, ""
}

// Dir returns the directory of the source for a directory of the artifact. If there is none, why is the reason.
func (p Part) Dir(name string) (dir, why string) {
	rest, ok := below(p.At, name)
	switch _, isAbove := below(name, p.At); {
	case ok:
		return path.Join(p.Top, rest), ""
	case isAbove:
		return "", fmt.Sprintf("which has all its files in %s: that its path %s is above is not supported", p.At, name)
	}
	return "", fmt.Sprintf("which has all its files in %s, and nothing at its path %s", p.At, name)
}

// place returns the paths of a copy that is executed after others.
func (c Copy) place(source *tree.Tree, top string, others []place) (p place, why string) {
	if slices.Contains(strings.Split(c.to, "/"), "..") || path.IsAbs(c.to) || path.IsAbs(c.from) {
		return p, "a path that is not supported"
	}
	if dir, ok := allIn(c.from); ok {
		dir = path.Join(top, dir)
		if entries, err := fs.ReadDir(source.Fsys, dir); err != nil || len(entries) == 0 {
			return p, "of which its source has nothing"
		}
		return place{dir, path.Clean(c.to), true}, ""
	}
	if strings.ContainsAny(c.from, "*?[]") {
		return p, "a pattern that is not supported: only DIRECTORY/** is, and directories and files"
	}
	name := path.Clean(c.from)
	from := path.Join(top, name)
	to := source.Resolve(from)
	if to.Err != nil || !fs.ValidPath(name) {
		return p, "which its source does not have"
	}
	name = path.Base(name)
	if to.IsDir || c.to == "" || strings.HasSuffix(c.to, "/") || isDirectory(source, path.Clean(c.to), others) {
		return place{from, path.Join(c.to, name), to.IsDir}, ""
	}
	if path.Clean(c.to) != c.to {
		return p, "a path that is not supported"
	}
	return place{from, c.to, false}, ""
}

// allIn returns the directory whose whole content a pattern matches.
func allIn(pattern string) (dir string, ok bool) {
	if pattern == "**" {
		return ".", true
	}
	dir, ok = strings.CutSuffix(pattern, "/**")
	return dir, ok && fs.ValidPath(dir) && !strings.ContainsAny(dir, `*?[]\`)
}

// isDirectory reports whether earlier copies have created a directory in the artifact.
func isDirectory(source *tree.Tree, dir string, places []place) bool {
	return dir == "." || slices.ContainsFunc(places, func(p place) bool {
		if rest, ok := below(dir, p.to); ok && rest != "." {
			return true
		}
		rest, ok := below(p.to, dir)
		return ok && source.Resolve(path.Join(p.from, rest)).IsDir
	})
}

// above removes the trailing names that two paths share.
func above(one, other string) (string, string) {
	for one != "." && other != "." && path.Base(one) == path.Base(other) {
		one, other = path.Dir(one), path.Dir(other)
	}
	return one, other
}

// below returns a path relative to a directory that contains it or is it.
func below(dir, name string) (rest string, ok bool) {
	switch {
	case dir == ".":
		return name, true
	case dir == name:
		return ".", true
	}
	return strings.CutPrefix(name, dir+"/")
}
