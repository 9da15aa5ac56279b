package tree

import (
	"slices"
	"sync"
)

const (
	// keptFile is the size of the largest file whose content is kept, in bytes.
	keptFile = 16 << 10
	// keptBytes bounds what is kept of the files of a tree, in bytes.
	keptBytes = 16 << 20
	// keptEntry is what an entry takes beside the name and the content, in bytes.
	keptEntry = 100
)

// smallFiles keeps what small files hold. Each file is read for its identity, for the words it
// mentions, for whether it is a manifest, and for its objects.
type smallFiles struct {
	mu    sync.Mutex
	files map[string][]byte
	size  int
}

// of returns the content of a file, which the caller may change, and whether it is kept.
func (c *smallFiles) of(name string) ([]byte, bool) {
	c.mu.Lock()
	data, ok := c.files[name]
	c.mu.Unlock()
	return slices.Clone(data), ok
}

// keep keeps the content of a file, unless that would be too much.
func (c *smallFiles) keep(name string, data []byte) {
	if len(data) > keptFile {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.files[name]; ok || c.size >= keptBytes {
		return
	}
	if c.files == nil {
		c.files = map[string][]byte{}
	}
	c.files[name] = slices.Clone(data)
	c.size += len(name) + len(data) + keptEntry
}
