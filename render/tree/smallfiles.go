package tree

import (
	"slices"
	"sync"
)

const (
	// keptFile is the maximum size of a file whose content is kept, in bytes.
	keptFile = 256 << 10
	// keptBytes limits the kept content of the files of a tree, in bytes.
	keptBytes = 16 << 20
	// keptEntry is the size of an entry in addition to the name and the content, in bytes.
	keptEntry = 100
)

// smallFiles caches the content of small files. Each file is read several times: for its identity, words, objects and
// lines, and to see whether it is a manifest.
type smallFiles struct {
	mu    sync.Mutex
	files map[string]*smallFile
	size  int
}

type smallFile struct {
	content []byte
	id      func() string // the result of ObjectID, computed once
}

// of returns the cached content of a file, which must not be modified, and whether it is cached.
func (c *smallFiles) of(name string) ([]byte, bool) {
	c.mu.Lock()
	kept, ok := c.files[name]
	c.mu.Unlock()
	if !ok {
		return nil, false
	}
	return kept.content, true
}

// keep caches the content of a file, unless that exceeds a limit, and returns the content that was cached first. It
// must not be modified.
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
	data = slices.Clip(data) // so that appending to it does not write into it
	c.files[name] = &smallFile{data, sync.OnceValue(func() string { return ObjectID(data) })}
	c.size += len(name) + len(data) + keptEntry
	return data
}

// identityOf returns the identity of a file; empty if it is not cached.
func (c *smallFiles) identityOf(name string) string {
	c.mu.Lock()
	kept, ok := c.files[name]
	c.mu.Unlock()
	if !ok {
		return ""
	}
	return kept.id()
}
