package scanner

import (
	"path"
	"strings"
)

// under reports whether a path is the directory dir or below it.
func under(dir, name string) bool {
	if dir = path.Clean(dir); dir == "." {
		return true
	}
	return name == dir || strings.HasPrefix(name, dir+"/")
}
