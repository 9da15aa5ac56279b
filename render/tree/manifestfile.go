package tree

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"

	sigsyaml "sigs.k8s.io/yaml"
)

// ManifestFile are the decoded documents of a manifest file.
type ManifestFile struct {
	Documents []Decoded
	// Bad is the error of a document separator, or the reason why nothing can be decoded. The documents after it are
	// missing.
	Bad *SyntaxError
}

// Decoded is a decoded document.
type Decoded struct {
	Objects []Item
	Bad     *SyntaxError
	// For a document with an error: Object is set if it may be intended as an object, Template if it may be a template
	// of one.
	Object, Template bool
	// repeats is set if the only error is repeated keys. last are the objects if the last of these keys counts.
	repeats bool
	last    []Item
}

// LastOfRepeated returns the file as read by decoders for which the last of repeated keys counts.
func (f *ManifestFile) LastOfRepeated() *ManifestFile {
	if !slices.ContainsFunc(f.Documents, func(d Decoded) bool { return d.repeats }) {
		return f
	}
	out := &ManifestFile{Bad: f.Bad, Documents: slices.Clone(f.Documents)}
	for i, d := range out.Documents {
		if d.repeats {
			out.Documents[i] = Decoded{Objects: d.last}
		}
	}
	return out
}

// DecodeManifest decodes the file at a path without symbolic links, given its content. Each content is decoded once:
// discovery and rendering both need it.
func (t *Tree) DecodeManifest(real string, data []byte) *ManifestFile {
	id, err := t.Identity(real)
	if err != nil {
		return t.cache.newManifestFile(real, data)
	}
	key := fileKey{real, id}
	once, ok := t.cache.manifests.Load(key)
	if !ok {
		once, _ = t.cache.manifests.LoadOrStore(key, sync.OnceValue(func() *ManifestFile { return t.cache.decode(real, data) }))
	}
	return once.(func() *ManifestFile)()
}

// decode decodes a file, or returns the stored result.
func (c *fileCache) decode(name string, data []byte) *ManifestFile {
	if c.kept == nil {
		return c.newManifestFile(name, data)
	}
	if documents := c.kept.Load(data); documents != nil {
		return &ManifestFile{Documents: documents}
	}
	f := c.newManifestFile(name, data)
	if f.Bad == nil && !slices.ContainsFunc(f.Documents, func(d Decoded) bool { return d.Bad != nil }) {
		c.kept.Keep(data, f.Documents)
	}
	return f
}

func (c *fileCache) newManifestFile(name string, data []byte) *ManifestFile {
	if why := Elsewhere(data); why != "" {
		return &ManifestFile{Bad: &SyntaxError{Position: Position{Path: name}, Message: why, Refused: true}}
	}
	docs, bad := SplitDocuments(name, data)
	f := &ManifestFile{Bad: bad}
	for _, doc := range docs {
		f.Documents = append(f.Documents, c.read(doc))
	}
	return f
}

// read decodes a document once for all files and trees that have it.
func (c *fileCache) read(d Document) Decoded {
	key := textKey{sha256.Sum256(d.Text), d.json}
	if known, ok := c.texts.Load(key); ok {
		return known.(Decoded)
	}
	decoded := d.read()
	if decoded.Bad == nil { // errors have places
		c.texts.Store(key, decoded)
	}
	return decoded
}

// read decodes a document into the objects it holds.
func (d Document) read() Decoded {
	data, bad := d.decode()
	switch {
	case bad != nil:
		return d.broken(bad)
	case data == nil:
		return Decoded{}
	}
	return Decoded{Objects: ObjectsOf(data)}
}

// broken returns the result for a document that cannot be decoded strictly. If it can be decoded otherwise, kubectl
// accepts it, so it is not a template.
func (d Document) broken(bad *SyntaxError) Decoded {
	if data, err := sigsyaml.YAMLToJSON(d.Text); err == nil {
		objects := ObjectsOf(data)
		return Decoded{Bad: bad, Object: len(objects) > 0, repeats: true, last: objects}
	}
	line := firstStatement(d.Text)
	if line > 0 {
		bad = &SyntaxError{Position: Position{Path: d.Path, Line: d.Line + line}, Message: bad.Message, Refused: bad.Refused}
	}
	return Decoded{Bad: bad, Object: mentionsObject(joinLines(d.Text)), Template: line > 0}
}

// MayHoldObject is a cheap test whether a text may contain an object.
func MayHoldObject(data []byte) bool {
	if isObscure(data) || IsPointer(data) {
		return true
	}
	return mentionsObject(joinLines(data))
}

// mentionsObject reports whether a text contains the words that every object has.
func mentionsObject(data []byte) bool {
	return bytes.Contains(data, []byte("apiVersion")) && bytes.Contains(data, []byte("kind"))
}

// IsPointer reports whether a file is a pointer of Git LFS. It begins with this line (docs/spec.md of Git LFS).
func IsPointer(data []byte) bool {
	return bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
}

// Elsewhere returns why a file, which may be a manifest, cannot be judged by its content.
func Elsewhere(data []byte) string {
	switch {
	case IsPointer(data):
		return "is a pointer of Git LFS: the manifest itself is not in the repository"
	case isUTF16(data) && mentionsObject(bytes.ReplaceAll(data, []byte{0}, nil)):
		// kubectl searches for `---` before it decodes, and applies only the first document.
		return "is UTF-16, of which tools apply more or less: save it as UTF-8"
	}
	return ""
}

// isUTF16 reports whether a YAML text has a byte order mark of UTF-16 (YAML 1.2, section 5.2).
func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xFE\xFF")) || bytes.HasPrefix(data, []byte("\xFF\xFE"))
}
