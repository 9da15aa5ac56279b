package origin

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/preadmit/preadmit/render/tree"
)

// Answers caches the results of origins, for processes that work on the same trees one after the other. It is
// safe for concurrent use. A nil Answers caches nothing.
type Answers struct {
	file string

	mu    sync.Mutex
	roots map[string]*rootAnswers
	added bool
}

// rootAnswers are the cached results for one root.
type rootAnswers struct {
	// Count is the number of the root's objects.
	Count   int
	Objects map[int]*objectAnswers
	Notes   map[string][]byte
}

// objectAnswers are the cached results of one object's origin.
type objectAnswers struct {
	Document tree.Position
	Why      string
	// Fields, Removals and History are set when the origin's Places have them.
	Fields, Removals, History bool
	Places                    map[string]Place
	// Whole reports for each list checked so far whether nothing was removed from it.
	Whole map[string]bool
	Steps map[string][]Step
}

// OpenAnswers reads the file that Save wrote. Results that cannot be read are missing and are computed again.
func OpenAnswers(file string) *Answers {
	a := &Answers{file: file, roots: map[string]*rootAnswers{}}
	data, err := os.ReadFile(file)
	if err != nil || gob.NewDecoder(bytes.NewReader(data)).Decode(&a.roots) != nil {
		a.roots = map[string]*rootAnswers{}
	}
	return a
}

// Save writes the file if results were added.
func (a *Answers) Save() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.added {
		return nil
	}
	var data bytes.Buffer
	err := gob.NewEncoder(&data).Encode(a.roots)
	if err == nil {
		err = os.WriteFile(a.file, data.Bytes(), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep where objects are written: %w", errors.Join(err, a.remove()))
	}
	return nil
}

// remove removes an incompletely written file.
func (a *Answers) remove() error {
	if err := os.Remove(a.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Of returns the origins of the objects of a root. find computes them; it is called, perhaps later, for the
// first result that is not cached. The name of the root must identify everything that decides the results, and
// no result may depend on the order of calls. more reports whether something else may have influenced the
// results so far; results computed since then are not cached.
func (a *Answers) Of(root string, more func() bool, find func() ([]*Origin, error)) ([]*Origin, error) {
	if a == nil || root == "" {
		return find()
	}
	find = sync.OnceValues(find)
	of := a.root(root)
	if of == nil {
		found, err := find()
		if err != nil {
			return nil, err
		}
		of = a.add(root, len(found))
	}
	out := make([]*Origin, of.Count)
	for i := range out {
		out[i] = New(sync.OnceValue((&answered{a, of, i, more, find}).places))
	}
	return out, nil
}

func (a *Answers) root(name string) *rootAnswers {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.roots[name]
}

// add returns the results for a root with count objects.
func (a *Answers) add(name string, count int) *rootAnswers {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.roots[name] == nil {
		a.roots[name] = &rootAnswers{Count: count, Objects: map[int]*objectAnswers{}, Notes: map[string][]byte{}}
		a.added = true
	}
	return a.roots[name]
}

// Note caches another value for a root of Of.
func (a *Answers) Note(root, name string, value any) {
	of := a.root(root)
	var data bytes.Buffer
	if of == nil || gob.NewEncoder(&data).Encode(value) != nil { // then it is computed again
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if of.Notes == nil {
		of.Notes = map[string][]byte{}
	}
	of.Notes[name], a.added = data.Bytes(), true
}

// Noted decodes a value that Note cached; false when there is none.
func (a *Answers) Noted(root, name string, into any) bool {
	of := a.root(root)
	if of == nil {
		return false
	}
	a.mu.Lock()
	data, ok := of.Notes[name]
	a.mu.Unlock()
	return ok && gob.NewDecoder(bytes.NewReader(data)).Decode(into) == nil
}
