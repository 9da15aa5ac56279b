// Package settled keeps which evaluations of policies had nothing to say, for processes that judge
// the same objects one after the other: as the API servers of several versions of Kubernetes, for
// which an object is mostly the same.
package settled

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
)

// Evaluations are those that had nothing to say, by all that they depend on. It is safe for concurrent
// use. A nil one keeps nothing.
type Evaluations struct {
	file string
	// read is whether the file had some.
	read bool

	mu    sync.Mutex
	known map[Key]Work
	added bool
}

// Work is what an evaluation took.
type Work struct {
	// Validations is how many were evaluated, Cost what all expressions cost by CEL's count.
	Validations, Cost int64
}

// A file is a sequence of records, each of which is true by itself: a key and the two numbers of its work.
const recordSize = len(Key{}) + 8 + 8

// Open reads what Save wrote to a file. What cannot be read counts as not there: it is evaluated
// again.
func Open(file string) *Evaluations {
	e := &Evaluations{file: file, known: map[Key]Work{}}
	data, err := os.ReadFile(file)
	if err != nil || len(data)%recordSize != 0 {
		return e
	}
	for ; len(data) > 0; data = data[recordSize:] {
		numbers := data[len(Key{}):]
		e.known[Key(data)] = Work{
			Validations: int64(binary.LittleEndian.Uint64(numbers)), Cost: int64(binary.LittleEndian.Uint64(numbers[8:])),
		}
		e.read = true
	}
	return e
}

// Read reports whether another process found some out.
func (e *Evaluations) Read() bool { return e != nil && e.read }

// Save writes what is known to the file if something was added.
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

// Find returns what an evaluation took that had nothing to say.
func (e *Evaluations) Find(key Key) (Work, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	work, ok := e.known[key]
	return work, ok
}

// Len is the number of evaluations that are known.
func (e *Evaluations) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.known)
}

// Add keeps that an evaluation has nothing to say.
func (e *Evaluations) Add(key Key, work Work) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[key], e.added = work, true
}
