package render

import (
	"bytes"
	"sync"

	sigsyaml "sigs.k8s.io/yaml"
)

// manifestFile is what the documents of a manifest file decode to.
type manifestFile struct {
	documents []decoded
	// bad is a broken document separator, or why nothing can be decoded; what follows it
	// is not in documents.
	bad *syntax
}

// problem is the first of what keeps the file from being rendered; nil when nothing does.
func fileProblem(f *manifestFile) *Problem {
	for _, doc := range f.documents {
		if doc.bad != nil {
			return problemOf(doc.bad)
		}
	}
	if f.bad != nil {
		return problemOf(f.bad)
	}
	return nil
}

// decoded is one document.
type decoded struct {
	objects []listed
	bad     *syntax
	// Of a document that does not decode: may it be meant as an object, and is it a
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
	if why := elsewhere(data); why != "" {
		return &manifestFile{bad: &syntax{Position: Position{Path: name}, message: why, refused: true}}
	}
	docs, bad := splitDocuments(name, data)
	f := &manifestFile{bad: bad}
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
		return d.broken(bad)
	case data == nil:
		return decoded{}
	}
	return decoded{objects: objectsOf(data)}
}

// broken is a document that does not decode strictly. What decodes otherwise, kubectl
// takes, so it is no template.
func (d document) broken(bad *syntax) decoded {
	if data, err := sigsyaml.YAMLToJSON(d.text); err == nil {
		return decoded{bad: bad, object: len(objectsOf(data)) > 0}
	}
	return decoded{bad: bad, object: mentionsObject(joinLines(d.text)), template: templated(d.text)}
}

// mayHoldObject is a cheap test, before anything is parsed.
func mayHoldObject(data []byte) bool {
	if isObscure(data) || isPointer(data) {
		return true
	}
	return mentionsObject(joinLines(data))
}

// mentionsObject tells whether a text has the words that every object has.
func mentionsObject(data []byte) bool {
	return bytes.Contains(data, []byte("apiVersion")) && bytes.Contains(data, []byte("kind"))
}

// isPointer tells whether a file stands for one that Git LFS keeps elsewhere. The line is
// the first one by the specification of Git LFS (docs/spec.md).
func isPointer(data []byte) bool {
	return bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
}

// elsewhere is why a file, which may be a manifest, cannot be judged by what is in it.
func elsewhere(data []byte) string {
	switch {
	case isPointer(data):
		return "is a pointer of Git LFS: the manifest itself is not in the repository"
	case isUTF16(data) && mentionsObject(bytes.ReplaceAll(data, []byte{0}, nil)):
		// kubectl looks for `---` before it decodes, and applies the first document only.
		return "is UTF-16, of which tools apply more or less: save it as UTF-8"
	}
	return ""
}

// isUTF16 tells whether a YAML text says that it is UTF-16 (YAML 1.2, section 5.2).
func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xFE\xFF")) || bytes.HasPrefix(data, []byte("\xFF\xFE"))
}
