package kinds

import (
	"bytes"
	"io/fs"
)

// largestManifest is the size in bytes up to which a file is searched: an API server stores no larger
// object.
const largestManifest = 3 << 20

// FileMentionsPolicy reports whether a file contains one of the words that every policy and every
// binding contains, so that it may have one. It is for files that do not parse.
func FileMentionsPolicy(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestManifest {
		return false
	}
	data, err := fs.ReadFile(tree, name)
	return err == nil && (bytes.Contains(data, []byte(Policy.Kind)) || bytes.Contains(data, []byte(Mutation.Kind)))
}
