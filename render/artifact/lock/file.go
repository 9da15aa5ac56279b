package lock

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/render/artifact"
)

// file is the format of the lock file.
type file struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Artifacts  []entry `json:"artifacts,omitempty"`
}

// entry is an artifact of the file.
type entry struct {
	Kind      string `json:"kind"`
	URL       string `json:"url"`
	Name      string `json:"name,omitempty"`
	Requested string `json:"requested,omitempty"`
	Version   string `json:"version,omitempty"`
	Commit    string `json:"commit,omitempty"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// maxBytes is the maximum size of a lock file, in bytes.
const maxBytes = 8 << 20

// Parse decodes a lock strictly. The path is used in messages only. Errors are *strictyaml.Error, joined in the order
// of the file.
func Parse(path string, data []byte) (*Lock, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d", path, len(data), maxBytes)
	}
	document, err := strictyaml.Parse(path, data)
	if err != nil {
		return nil, err
	}
	if document.Empty() {
		return nil, document.Error("", "the file is empty: preadmit fetch writes it, delete it to begin anew")
	}
	var f file
	_ = document.Decode(&f) // document.Err returns the error
	l := f.check(document)
	if err := document.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

// check adds errors for invalid entries to the document, and returns the lock.
func (f *file) check(document *strictyaml.Document) *Lock {
	if f.APIVersion != APIVersion && !document.Failed("apiVersion") {
		document.Fail("apiVersion", "want %s, not %q", APIVersion, f.APIVersion)
	}
	if f.Kind != Kind && !document.Failed("kind") {
		document.Fail("kind", "want %s, not %q", Kind, f.Kind)
	}
	if len(f.Artifacts) > maxEntries {
		document.Fail("artifacts", "there are %d, more than the limit of %d", len(f.Artifacts), maxEntries)
		return nil
	}
	l := &Lock{}
	for i, e := range f.Artifacts {
		a, pin := e.parts()
		key := "artifacts[" + strconv.Itoa(i) + "]"
		_, known := l.Find(a)
		switch err := a.Check(); {
		case err != nil:
			document.Fail(key, "%v", err)
			continue
		case known:
			document.Fail(key, "%s is there twice", a)
			continue
		}
		if err := pin.Check(a.Kind); err != nil {
			document.Fail(key, "%v", err)
		}
		l.Set(a, pin)
	}
	return l
}

// parts returns the artifact and the pin of an entry.
func (e entry) parts() (artifact.Artifact, artifact.Pin) {
	return artifact.Artifact{Kind: artifact.Kind(e.Kind), URL: e.URL, Name: e.Name, Version: e.Requested},
		artifact.Pin{Version: e.Version, Commit: e.Commit, Digest: e.Digest, Size: e.Size}
}

// Load reads the lock of a tree; it returns nil if there is none.
func Load(tree fs.FS) (*Lock, error) {
	if tree == nil {
		return nil, nil
	}
	info, err := fs.Stat(tree, FileName)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	if info.Size() > maxBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d", FileName, info.Size(), maxBytes)
	}
	data, err := fs.ReadFile(tree, FileName)
	if err != nil {
		return nil, err
	}
	return Parse(FileName, data)
}

// Encode returns the lock as a file. Equal locks are encoded to equal bytes.
func (l *Lock) Encode() []byte {
	var b bytes.Buffer
	b.WriteString("# Written by preadmit fetch. Commit this file: it pins the artifacts of the repository.\n")
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\n", APIVersion, Kind)
	all := l.Artifacts()
	if len(all) > 0 {
		b.WriteString("artifacts:\n")
	}
	for _, a := range all {
		pin, _ := l.Find(a)
		fmt.Fprintf(&b, "- kind: %s\n  url: %s\n", a.Kind, quoted(a.URL))
		for _, field := range [][2]string{{"name", a.Name}, {"requested", a.Version}, {"version", pin.Version}, {"commit", pin.Commit}} {
			if field[1] != "" {
				fmt.Fprintf(&b, "  %s: %s\n", field[0], quoted(field[1]))
			}
		}
		fmt.Fprintf(&b, "  digest: %s\n  size: %d\n", pin.Digest, pin.Size)
	}
	return b.Bytes()
}
