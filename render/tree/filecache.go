package tree

import (
	"sync"
)

// fileCache keeps what was found out about files, by their content: two trees that
// hold the same file share it. Safe for concurrent use.
type fileCache struct {
	// guarded holds guardVerdicts by identity.
	guarded sync.Map
	// manifests (as func() *manifestFile) and parsed are by path as well: fileKey -> what
	// the file decodes to. parsed is for what other packages make of files.
	manifests, parsed sync.Map
	// documents counts those of files by identity.
	documents sync.Map
	// kept has what files decoded to before; nil when nothing has.
	kept DecodedFiles
}

// DecodedFiles has what manifest files decode to, by their content. It is safe for concurrent use.
type DecodedFiles interface {
	// Load returns the documents of a file; nil when there are none.
	Load(content []byte) []Decoded
	// Keep keeps the documents of a file, which all decode.
	Keep(content []byte, documents []Decoded)
}

// TakeDecoded has files decoded by way of what was kept, in this tree and those beside it. It comes before all else.
func (t *Tree) TakeDecoded(files DecodedFiles) { t.cache.kept = files }

// Parsed returns what keepParsed kept of a file.
func (t *Tree) Parsed(path, identity string) (value any, ok bool) {
	return t.cache.parsed.Load(fileKey{path, identity})
}

// KeepParsed keeps what a file of that content parses to, and returns what was kept first.
func (t *Tree) KeepParsed(path, identity string, value any) any {
	kept, _ := t.cache.parsed.LoadOrStore(fileKey{path, identity}, value)
	return kept
}

// fileKey is a file at a path with a content.
type fileKey struct{ path, identity string }

// CountDocuments counts the YAML documents of a file, as load cuts them, and notes the
// file in a trace.
func (t *Tree) CountDocuments(real string, trace Trace) (int, error) {
	id, err := t.Identity(real)
	if err != nil {
		return 0, err
	}
	if n, ok := t.cache.documents.Load(id); ok {
		trace.Reads[real] = id
		return n.(int), nil
	}
	data, _, err := t.Load(real, trace)
	if err != nil {
		return 0, err
	}
	n := 1 + len(Separator.FindAllIndex(data, -1))
	t.cache.documents.Store(id, n)
	return n, nil
}
