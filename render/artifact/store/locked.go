package store

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

// Locked returns the contents that a lock names from a store. It implements artifact.Contents.
type Locked struct {
	store *Store
	lock  *lock.Lock
	hint  func(artifact.Artifact) string

	mu    sync.Mutex
	trees map[string]opened
	files map[string][]byte
}

// opened is the result of opening a tree.
type opened struct {
	tree fs.FS
	err  error
}

var _ artifact.Contents = (*Locked)(nil)

// NewLocked returns the contents of a lock, which may be nil. hint returns how to get a missing artifact; it may be
// nil.
func NewLocked(s *Store, l *lock.Lock, hint func(artifact.Artifact) string) *Locked {
	if hint == nil {
		hint = func(artifact.Artifact) string { return "" }
	}
	return &Locked{store: s, lock: l, hint: hint, trees: map[string]opened{}, files: map[string][]byte{}}
}

// maxContent is the maximum size of a file or chart, in bytes.
const maxContent = 128 << 20

// Tree implements artifact.Contents.
func (l *Locked) Tree(a artifact.Artifact) (fs.FS, artifact.Pin, error) {
	pin, err := l.pin(a)
	if err != nil {
		return nil, pin, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.trees[pin.Digest]
	if !ok {
		known.tree, known.err = l.store.Tree(pin.Digest, Links(a.Kind == artifact.Git), Limits{})
		l.trees[pin.Digest] = known
	}
	return known.tree, pin, l.explain(a, known.err)
}

// Bytes implements artifact.Contents.
func (l *Locked) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	pin, err := l.pin(a)
	if err != nil {
		return nil, pin, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	data, ok := l.files[pin.Digest]
	if ok {
		return data, pin, nil
	}
	if data, err = l.store.Bytes(pin.Digest, maxContent); err == nil {
		l.files[pin.Digest] = data
	}
	return data, pin, l.explain(a, err)
}

func (l *Locked) pin(a artifact.Artifact) (artifact.Pin, error) {
	pin, ok := l.lock.Find(a)
	switch {
	case ok:
		return pin, nil
	case l.lock == nil:
		return pin, &artifact.MissingError{Artifact: a, Why: "there is no " + lock.FileName, Hint: l.hint(a)}
	}
	return pin, &artifact.MissingError{Artifact: a, Why: lock.FileName + " does not have it", Hint: l.hint(a)}
}

func (l *Locked) explain(a artifact.Artifact, err error) error {
	if errors.Is(err, ErrNotStored) {
		return &artifact.MissingError{Artifact: a, Why: err.Error(), Hint: l.hint(a)}
	}
	return err
}

// Artifacts implements artifact.Contents.
func (l *Locked) Artifacts() []artifact.Artifact { return l.lock.Artifacts() }
