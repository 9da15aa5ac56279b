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

// Answers are what origins answered, for processes that work on the same trees one after the
// other. It is safe for concurrent use. A nil one keeps nothing.
type Answers struct {
	file string

	mu    sync.Mutex
	roots map[string]*rootAnswers
	added bool
}

// rootAnswers are those about one root.
type rootAnswers struct {
	// Count is the number of its objects.
	Count   int
	Objects map[int]*objectAnswers
	Notes   map[string][]byte
}

// objectAnswers are those of the origin of one object.
type objectAnswers struct {
	Document tree.Position
	Why      string
	// Fields, Removals and History are set when the Places have them.
	Fields, Removals, History bool
	Places                    map[string]Place
	// Whole are the lists of which it is known whether nothing was removed from them.
	Whole map[string]bool
	Steps map[string][]Step
}

// OpenAnswers reads what Save wrote to a file. What cannot be read counts as not there: it is found
// again.
func OpenAnswers(file string) *Answers {
	a := &Answers{file: file, roots: map[string]*rootAnswers{}}
	data, err := os.ReadFile(file)
	if err != nil || gob.NewDecoder(bytes.NewReader(data)).Decode(&a.roots) != nil {
		a.roots = map[string]*rootAnswers{}
	}
	return a
}

// Save writes what was added to the file.
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

// remove removes a file that was not written whole.
func (a *Answers) remove() error {
	if err := os.Remove(a.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Of returns the origins of the objects of a root. find finds them; it is called when something is
// asked that was not answered before, perhaps later. The name of the root stands for all that decides
// what they answer, and no answer may depend on the other questions. more reports whether something else may have
// decided an answer so far; what is answered since then is not kept.
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

// add returns the answers about a root with so many objects.
func (a *Answers) add(name string, count int) *rootAnswers {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.roots[name] == nil {
		a.roots[name] = &rootAnswers{Count: count, Objects: map[int]*objectAnswers{}, Notes: map[string][]byte{}}
		a.added = true
	}
	return a.roots[name]
}

// Note keeps something else that was found out about a root of Of.
func (a *Answers) Note(root, name string, value any) {
	of := a.root(root)
	var data bytes.Buffer
	if of == nil || gob.NewEncoder(&data).Encode(value) != nil { // then it is found out again
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if of.Notes == nil {
		of.Notes = map[string][]byte{}
	}
	of.Notes[name], a.added = data.Bytes(), true
}

// Noted returns what Note kept; false when there is nothing.
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
