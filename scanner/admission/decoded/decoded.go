// Package decoded keeps objects as their JSON was decoded, for processes that judge the same objects one
// after the other: as API servers of several versions of Kubernetes. The Go types of a program are the same
// for all of them.
package decoded

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
)

// Key identifies JSON that is decoded as an object of a kind.
type Key [sha256.Size]byte

// KeyOf returns the key of the JSON of an object.
func KeyOf(kind string, body []byte) (key Key) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d:%s", len(kind), kind) // writing to a hash never fails
	_, _ = h.Write(body)
	h.Sum(key[:0])
	return key
}

// Objects are encoded objects by key. It is safe for concurrent use.
type Objects struct {
	file string

	mu    sync.RWMutex
	known map[Key][]byte
	added bool
}

// A file is a sequence of entries: a key, the length of the object, and the object.
const entrySize = len(Key{}) + 8

// Open reads a file that Save wrote. A file that cannot be read counts as absent: the JSON is decoded again.
func Open(file string) *Objects {
	o := &Objects{file: file, known: map[Key][]byte{}}
	data, err := os.ReadFile(file)
	if err != nil || !o.decode(data) {
		o.known = map[Key][]byte{}
	}
	return o
}

// decode adds the content of a file; it is false if the file is incomplete.
func (o *Objects) decode(data []byte) bool {
	for len(data) >= entrySize {
		key, size := Key(data), binary.LittleEndian.Uint64(data[len(Key{}):])
		data = data[entrySize:]
		if size > uint64(len(data)) {
			return false
		}
		o.known[key] = data[:size:size]
		data = data[size:]
	}
	return len(data) == 0
}

// Find returns the encoded object for a key.
func (o *Objects) Find(key Key) (object []byte, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	object, ok = o.known[key]
	return object, ok
}

// Add records an encoded object.
func (o *Objects) Add(key Key, object []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[key], o.added = object, true
}

// Save writes the objects to the file if any was added.
func (o *Objects) Save() error {
	if o == nil {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if !o.added {
		return nil
	}
	size := 0
	for _, object := range o.known {
		size += entrySize + len(object)
	}
	data := make([]byte, 0, size)
	for key, object := range o.known {
		data = binary.LittleEndian.AppendUint64(append(data, key[:]...), uint64(len(object)))
		data = append(data, object...)
	}
	if err := os.WriteFile(o.file, data, 0o600); err != nil {
		return fmt.Errorf("keep decoded objects: %w", err)
	}
	return nil
}
