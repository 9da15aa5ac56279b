package kinds

import (
	"bytes"
	"io/fs"

	"github.com/preadmit/preadmit/render/tree"
)

// largestFile is the size in bytes up to which a file is searched: no larger one is rendered
// (tree.Limits). A file may hold many objects, so that the size of one is no limit.
const largestFile = 16 << 20

// FileMentionsPolicy reports whether a file contains one of the words that every policy and every
// binding contains, so that it may have one; of a larger manifest than is searched it may. It is
// for files that do not parse.
func FileMentionsPolicy(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Size() > largestFile {
		return tree.IsManifestName(name)
	}
	data, err := fs.ReadFile(files, name)
	return err == nil && (bytes.Contains(data, []byte(Policy.Kind)) || bytes.Contains(data, []byte(Mutation.Kind)))
}
