package render

import "path"

func newTrace() Trace {
	return Trace{Reads: make(map[string]string), Misses: make(map[string]bool)}
}

// passed notes the symbolic links on the way to a path.
func (t Trace) passed(links []link) {
	for _, l := range links {
		t.Reads[l.path] = linkMark + l.target
	}
}

// missed notes a path that leads nowhere.
func (t Trace) missed(name string, r *resolution) {
	t.passed(r.links)
	t.Misses[name] = true
}

// Valid tells whether the renderer's tree would render the same as the one the
// trace is of: every file read has the same content there, every symbolic link
// passed the same target, and what was missing still is. It does not know of the
// options of a render, nor, for a plain root, of files added to its directory
// (compare Root.Files).
func (r *Renderer) Valid(trace Trace) bool {
	for name, want := range trace.Reads {
		// Below a symbolic link `..` leads elsewhere.
		if dir := r.tree.resolve(path.Dir(name)); dir.err != nil || dir.real != path.Dir(name) {
			return false
		}
		if got, err := r.tree.identity(name); err != nil || got != want {
			return false
		}
	}
	for name := range trace.Misses {
		if r.tree.resolve(name).err == nil {
			return false
		}
	}
	return true
}
