// Package settled records evaluations of policies without findings, for processes that judge the same
// objects one after the other: as API servers of several versions of Kubernetes, for which an object
// is mostly the same.
package settled

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
)

// Evaluations are the evaluations without findings, by their keys. It is safe for concurrent use. A nil one
// is empty.
type Evaluations struct {
	file string
	// read is set if the file had any.
	read bool

	mu    sync.Mutex
	known map[Key]Work
	added bool
}

// Work is the work of an evaluation.
type Work struct {
	// Validations is the number of evaluated validations, Cost the CEL cost of all expressions.
	Validations, Cost int64
}

// A file is a sequence of independent records: a key and the two numbers of its work.
const recordSize = len(Key{}) + 8 + 8

// Open reads a file that Save wrote. A file that cannot be read counts as absent: the evaluations are
// made again.
func Open(file string) *Evaluations {
	e := &Evaluations{file: file, known: map[Key]Work{}}
	data, err := os.ReadFile(file)
	if err != nil || len(data)%recordSize != 0 {
		return e
	}
	e.known = make(map[Key]Work, len(data)/recordSize)
	for ; len(data) > 0; data = data[recordSize:] {
		numbers := data[len(Key{}):]
		e.known[Key(data)] = Work{
			Validations: int64(binary.LittleEndian.Uint64(numbers)), Cost: int64(binary.LittleEndian.Uint64(numbers[8:])),
		}
		e.read = true
	}
	return e
}

// Read reports whether the file of another process had any.
func (e *Evaluations) Read() bool { return e != nil && e.read }

// Save writes the evaluations to the file if any was added.
func (e *Evaluations) Save() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.added {
		return nil
	}
	data := make([]byte, 0, len(e.known)*recordSize)
	for key, work := range e.known {
		data = append(data, key[:]...)
		data = binary.LittleEndian.AppendUint64(data, uint64(work.Validations))
		data = binary.LittleEndian.AppendUint64(data, uint64(work.Cost))
	}
	if err := os.WriteFile(e.file, data, 0o600); err != nil {
		return fmt.Errorf("keep which policies had nothing to say: %w", err)
	}
	return nil
}

// Find returns the work of an evaluation without findings.
func (e *Evaluations) Find(key Key) (Work, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	work, ok := e.known[key]
	return work, ok
}

// Len returns the number of known evaluations.
func (e *Evaluations) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.known)
}

// Add records an evaluation without findings.
func (e *Evaluations) Add(key Key, work Work) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[key], e.added = work, true
}
