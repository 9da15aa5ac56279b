package render

import "io/fs"

// linkMark distinguishes the hash of a symbolic link from that of a file that
// holds the same text.
const linkMark = "symbolic link\x00"

func newTrace() Trace {
	return Trace{Reads: make(map[string]string), Misses: make(map[string]bool)}
}

// passed notes the symbolic links on the way to a path.
func (t Trace) passed(links []link) {
	for _, l := range links {
		t.Reads[l.path] = digest([]byte(linkMark + l.target))
	}
}

// missed notes a path that leads nowhere.
func (t Trace) missed(name string, r *resolution) {
	t.passed(r.links)
	t.Misses[name] = true
}

// Valid tells whether another tree would render the same: every file read has
// the same content there, every symbolic link passed the same target, and what
// was missing still is. It does not know of the options of a render, nor, for a
// plain root, of files added to its directory (compare Root.Files).
func (t Trace) Valid(fsys fs.FS) bool {
	other := newTree(fsys, Limits{FileBytes: 1 << 40})
	for name, want := range t.Reads {
		got, err := other.fingerprint(name)
		if err != nil || got != want {
			return false
		}
	}
	for name := range t.Misses {
		if other.resolve(name).err == nil {
			return false
		}
	}
	return true
}

// fingerprint hashes the file or symbolic link at a path.
func (t *tree) fingerprint(name string) (string, error) {
	info, err := t.lstat(name)
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := t.links.ReadLink(name)
		return digest([]byte(linkMark + target)), err
	}
	data, err := t.read(name)
	if err != nil {
		return "", err
	}
	return digest(data), nil
}
