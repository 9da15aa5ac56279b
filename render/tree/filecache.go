package tree

import (
	"crypto/sha256"
	"sync"
)

// fileCache caches results about files by content, so that trees with the same file share them. It is safe for
// concurrent use.
type fileCache struct {
	// guarded caches guardVerdicts by identity.
	guarded sync.Map
	// manifests (func() *ManifestFile) and parsed are keyed by fileKey, because they depend on the path as well. parsed
	// is for results of other packages.
	manifests, parsed sync.Map
	// texts caches decoded documents by textKey.
	texts sync.Map
	// documents caches the number of documents by identity.
	documents sync.Map
	// kept has stored results of decoding; nil if there are none.
	kept DecodedFiles
}

// DecodedFiles stores decoded manifest files by content. It is safe for concurrent use.
type DecodedFiles interface {
	// Load returns the documents of a file; nil if they are not stored.
	Load(content []byte) []Decoded
	// Keep stores the documents of a file that were all decoded without errors.
	Keep(content []byte, documents []Decoded)
}

// TakeDecoded sets the store of decoded files for this tree and those beside it. It must be called first.
func (t *Tree) TakeDecoded(files DecodedFiles) { t.cache.kept = files }

// Parsed returns the value that KeepParsed stored for a file.
func (t *Tree) Parsed(path, identity string) (value any, ok bool) {
	return t.cache.parsed.Load(fileKey{path, identity})
}

// KeepParsed stores a value for a file with this content, unless there is one, and returns the stored value.
func (t *Tree) KeepParsed(path, identity string, value any) any {
	kept, _ := t.cache.parsed.LoadOrStore(fileKey{path, identity}, value)
	return kept
}

// fileKey is the path and the identity of a file.
type fileKey struct{ path, identity string }

// textKey is the text of a document, by its hash, and whether it is read as JSON.
type textKey struct {
	hash [sha256.Size]byte
	json bool
}

// CountDocuments returns the number of YAML documents of a file, as kustomize splits it, and records the file in a
// trace.
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
