// Package settled records evaluations of policies without findings, for processes that judge the same
// objects one after the other: as API servers of several versions of Kubernetes, for which an object
// is mostly the same.
package settled

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// Evaluations are the evaluations without findings, by the key of their request. It is safe for concurrent
// use. A nil one is empty.
type Evaluations struct {
	file string
	// read is set if the file had any.
	read bool

	mu    sync.Mutex
	known map[Key]*Request
	added atomic.Bool
}

// Request has the evaluations of a request, by the key of the rest of their input: the policy and the param.
type Request struct {
	of *Evaluations

	mu sync.Mutex
	// work has the evaluations in the order in which they were added.
	work []evaluation
	// next is the index in work after the evaluation that was found last.
	next int
}

// evaluation is an evaluation without findings.
type evaluation struct {
	key  Key
	work Work
}

// Work is the work of an evaluation.
type Work struct {
	// Validations is the number of evaluated validations, Cost the CEL cost of all expressions.
	Validations, Cost int64
}

// A file is a sequence of independent requests: a key, the number of evaluations, and for each its key and
// the two numbers of its work.
const (
	requestSize    = len(Key{}) + 8
	evaluationSize = len(Key{}) + 8 + 8
)

// Open reads a file that Save wrote. A file that cannot be read counts as absent: the evaluations are
// made again.
func Open(file string) *Evaluations {
	e := &Evaluations{file: file, known: map[Key]*Request{}}
	data, err := os.ReadFile(file)
	if err != nil || !e.decode(data) {
		e.known = map[Key]*Request{}
	}
	e.read = len(e.known) > 0
	return e
}

// decode adds the content of a file; it is false if the file is incomplete.
func (e *Evaluations) decode(data []byte) bool {
	for len(data) >= requestSize {
		key, count := Key(data), binary.LittleEndian.Uint64(data[len(Key{}):])
		data = data[requestSize:]
		if count > uint64(len(data)/evaluationSize) {
			return false
		}
		r := &Request{of: e, work: make([]evaluation, count)}
		for i := range r.work {
			numbers := data[len(Key{}):]
			r.work[i] = evaluation{Key(data), Work{
				Validations: int64(binary.LittleEndian.Uint64(numbers)), Cost: int64(binary.LittleEndian.Uint64(numbers[8:])),
			}}
			data = data[evaluationSize:]
		}
		e.known[key] = r
	}
	return len(data) == 0
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
	if !e.added.Load() {
		return nil
	}
	var data []byte
	for key, r := range e.known {
		data = r.encode(data, key)
	}
	if err := os.WriteFile(e.file, data, 0o600); err != nil {
		return fmt.Errorf("keep which policies had nothing to say: %w", err)
	}
	return nil
}

// encode appends the evaluations of a request, if it has any, in the format of the file.
func (r *Request) encode(data []byte, key Key) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.work) == 0 {
		return data
	}
	data = slices.Grow(data, requestSize+len(r.work)*evaluationSize)
	data = binary.LittleEndian.AppendUint64(append(data, key[:]...), uint64(len(r.work)))
	for _, known := range r.work {
		data = append(data, known.key[:]...)
		data = binary.LittleEndian.AppendUint64(data, uint64(known.work.Validations))
		data = binary.LittleEndian.AppendUint64(data, uint64(known.work.Cost))
	}
	return data
}

// Of returns the evaluations of the request with a key.
func (e *Evaluations) Of(request Key) *Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.known[request]
	if !ok {
		r = &Request{of: e}
		e.known[request] = r
	}
	return r
}

// Find returns the work of an evaluation without findings. Evaluations are mostly looked for in the order in
// which they were added.
func (r *Request) Find(key Key) (Work, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.work {
		at := (r.next + i) % len(r.work)
		if r.work[at].key == key {
			r.next = at + 1
			return r.work[at].work, true
		}
	}
	return Work{}, false
}

// Add records an evaluation without findings.
func (r *Request) Add(key Key, work Work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work = append(r.work, evaluation{key, work})
	r.of.added.Store(true)
}

// Len returns the number of known evaluations.
func (e *Evaluations) Len() (count int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.known {
		count += len(r.work)
	}
	return count
}
