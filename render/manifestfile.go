package render

import (
	"bytes"
	"sync"
)

// manifestFile is what the documents of a manifest file decode to.
type manifestFile struct {
	documents []decoded
	// bad is a broken document separator; what follows it is not in documents.
	bad *syntax
	// object tells whether a file with a broken separator looks like a manifest.
	object bool
}

// decoded is one document.
type decoded struct {
	objects []listed
	bad     *syntax
	// Of a document that does not decode: does it look like an object, or like a
	// template of one?
	object, template bool
}

// decodeManifest decodes the file that a path leads to, given its content. A
// content is decoded once: discovery and rendering both need it.
func (t *tree) decodeManifest(real string, data []byte) *manifestFile {
	id, err := t.identity(real)
	if err != nil {
		return newManifestFile(real, data)
	}
	key := fileKey{real, id}
	once, ok := t.memo.manifests.Load(key)
	if !ok {
		once, _ = t.memo.manifests.LoadOrStore(key, sync.OnceValue(func() *manifestFile { return newManifestFile(real, data) }))
	}
	return once.(func() *manifestFile)()
}

func newManifestFile(name string, data []byte) *manifestFile {
	docs, bad := splitDocuments(name, data)
	f := &manifestFile{bad: bad, object: bad != nil && looksLikeObject(document{path: name, text: data})}
	for _, doc := range docs {
		f.documents = append(f.documents, doc.read())
	}
	return f
}

// read decodes a document into the objects it holds.
func (d document) read() decoded {
	data, bad := d.decode()
	switch {
	case bad != nil:
		return decoded{bad: bad, object: looksLikeObject(d), template: templated(d.text)}
	case data == nil:
		return decoded{}
	}
	return decoded{objects: objectsOf(data)}
}

// mayHoldObject is a cheap test, before anything is parsed.
func mayHoldObject(data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && bytes.Contains(data, []byte("apiVersion")) && bytes.Contains(data, []byte("kind"))
}
