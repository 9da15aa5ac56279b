package render

import "sync"

// memo remembers what was worked out about files, by their content: two trees that
// hold the same file share it. Safe for concurrent use.
type memo struct {
	// guarded holds guardVerdicts by identity.
	guarded sync.Map
	// manifests (as func() *manifestFile) and parsed are by path as well: fileKey -> what
	// the file decodes to. parsed is for what other packages make of files.
	manifests, parsed sync.Map
	// documents counts those of files by identity.
	documents sync.Map
}

// parsed returns what keepParsed kept of a file.
func (t *tree) parsed(path, identity string) (value any, ok bool) {
	return t.memo.parsed.Load(fileKey{path, identity})
}

// keepParsed keeps what a file of that content parses to, and returns what was kept first.
func (t *tree) keepParsed(path, identity string, value any) any {
	kept, _ := t.memo.parsed.LoadOrStore(fileKey{path, identity}, value)
	return kept
}

// fileKey is a file at a path with a content.
type fileKey struct{ path, identity string }

// countDocuments counts the YAML documents of a file, as load cuts them, and notes the
// file in a trace.
func (t *tree) countDocuments(real string, trace Trace) (int, error) {
	id, err := t.identity(real)
	if err != nil {
		return 0, err
	}
	if n, ok := t.memo.documents.Load(id); ok {
		trace.Reads[real] = id
		return n.(int), nil
	}
	data, _, err := t.load(real, trace)
	if err != nil {
		return 0, err
	}
	n := 1 + len(separator.FindAllIndex(data, -1))
	t.memo.documents.Store(id, n)
	return n, nil
}
