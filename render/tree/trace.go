package tree

import (
	"io/fs"
	"maps"
	"slices"
)

// Entries returns everything in a trace as words, in order.
func (t Trace) Entries() []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(t.Reads)) {
		words = append(words, "read", name, t.Reads[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.Misses)) {
		words = append(words, "miss", name)
	}
	return words
}

// Covers reports whether a trace contains everything that another one contains.
func (t Trace) Covers(other Trace) bool {
	for name, id := range other.Reads {
		if t.Reads[name] != id {
			return false
		}
	}
	for name := range other.Misses {
		if !t.Misses[name] {
			return false
		}
	}
	return true
}

// TraceFile records a path as if it was read. A directory is recorded as well, because its existence may matter as much
// as the content of a file.
func (t *Tree) TraceFile(name string, trace Trace) {
	r := t.Resolve(name)
	if r.Err != nil {
		trace.AddMiss(name, r)
		return
	}
	trace.AddLinks(r.Links)
	if id, err := t.Identity(r.Real); err == nil {
		trace.Reads[r.Real] = id
	} else {
		trace.Misses[name] = true
	}
}

// TraceBelow records a directory with all files below it, following symbolic links to directories.
func (t *Tree) TraceBelow(dir string, trace Trace) {
	seen := map[string]bool{}
	for next := []string{dir}; len(next) > 0; next = next[1:] {
		t.TraceFile(next[0], trace)
		at := t.Resolve(next[0])
		if at.Err != nil || !at.IsDir || seen[at.Real] {
			continue
		}
		seen[at.Real] = true
		t.AddListing(at.Real, trace)
		_ = fs.WalkDir(t.Fsys, at.Real, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || entry.IsDir():
			case entry.Type()&fs.ModeSymlink != 0:
				next = append(next, name)
			default:
				t.TraceFile(name, trace)
			}
			return nil
		})
	}
}

// Trace is what rendering has read: enough to know whether another tree would render the same.
type Trace struct {
	// Reads maps each file read to git's name of its content, in hex, and each symbolic link passed to LinkMark and its
	// target. Directories that were found have a mark.
	Reads map[string]string
	// Misses is the set of paths that were looked for and do not exist.
	Misses map[string]bool
}

// AddListing records that the names at and below a directory were read. Its path must not contain symbolic links.
func (t *Tree) AddListing(dir string, trace Trace) {
	if id, err := t.Identity(Listing(dir)); err == nil {
		trace.Reads[Listing(dir)] = id
	}
}

func NewTrace() Trace {
	return Trace{Reads: make(map[string]string), Misses: make(map[string]bool)}
}

// AddLinks records the symbolic links in the resolution of a path.
func (t Trace) AddLinks(links []link) {
	for _, l := range links {
		t.Reads[l.path] = LinkMark + l.target
	}
}

// AddMiss records a path that does not exist.
func (t Trace) AddMiss(name string, r *Resolution) {
	t.AddLinks(r.Links)
	t.Misses[name] = true
}
