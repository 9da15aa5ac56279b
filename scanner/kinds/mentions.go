package kinds

import (
	"bytes"
	"io/fs"
)

// largestManifest is the size in bytes up to which a file is searched: no manifest of
// a policy is larger, because no object that a server stores is.
const largestManifest = 3 << 20

// FileMentionsPolicy reports whether a file has one of the words that every policy and every
// binding has, so that it may hold one. Of a file that does not parse no more is known.
func FileMentionsPolicy(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestManifest {
		return false
	}
	data, err := fs.ReadFile(tree, name)
	return err == nil && (bytes.Contains(data, []byte(Policy.Kind)) || bytes.Contains(data, []byte(Mutation.Kind)))
}
