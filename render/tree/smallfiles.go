package tree

import (
	"slices"
	"sync"
)

const (
	// keptFile is the size of the largest file whose content is kept, in bytes.
	keptFile = 256 << 10
	// keptBytes bounds what is kept of the files of a tree, in bytes.
	keptBytes = 16 << 20
	// keptEntry is what an entry takes beside the name and the content, in bytes.
	keptEntry = 100
)

// smallFiles keeps the content of small files. Each file is read for its identity, for the words it
// mentions, for whether it is a manifest, for its objects, and for its lines.
type smallFiles struct {
	mu    sync.Mutex
	files map[string]*smallFile
	size  int
}

type smallFile struct {
	content []byte
	id      func() string // that ObjectID returns, once
}

// of returns the content of a file, which must not be modified, and whether it is kept.
func (c *smallFiles) of(name string) ([]byte, bool) {
	c.mu.Lock()
	kept, ok := c.files[name]
	c.mu.Unlock()
	if !ok {
		return nil, false
	}
	return kept.content, true
}

// keep keeps the content of a file, unless that would be too much, and returns what was kept first. It must not be
// modified.
func (c *smallFiles) keep(name string, data []byte) []byte {
	if len(data) > keptFile {
		return data
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.files[name]; ok {
		return kept.content
	}
	if c.size >= keptBytes {
		return data
	}
	if c.files == nil {
		c.files = map[string]*smallFile{}
	}
	data = slices.Clip(data) // what is appended to it is not written into it
	c.files[name] = &smallFile{data, sync.OnceValue(func() string { return ObjectID(data) })}
	c.size += len(name) + len(data) + keptEntry
	return data
}

// identityOf returns the identity of a file; empty when it is not kept.
func (c *smallFiles) identityOf(name string) string {
	c.mu.Lock()
	kept, ok := c.files[name]
	c.mu.Unlock()
	if !ok {
		return ""
	}
	return kept.id()
}
