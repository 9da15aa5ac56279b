package scanner_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/overlay"
)

// packed has the charts of a scenario: the files of directory charts/NAME-VERSION become an
// archive, whatever its repository.
type packed map[string][]byte

func packCharts(t *testing.T, archive *txtar.Archive) packed {
	t.Helper()
	files := map[string][]txtar.File{}
	for _, f := range archive.Files {
		if rest, ok := strings.CutPrefix(f.Name, "charts/"); ok {
			name, file, _ := strings.Cut(rest, "/")
			files[name] = append(files[name], txtar.File{Name: file, Data: f.Data})
		}
	}
	p := packed{}
	for name, all := range files {
		var data bytes.Buffer
		zipped := gzip.NewWriter(&data)
		w := tar.NewWriter(zipped)
		for _, f := range all {
			if err := w.WriteHeader(&tar.Header{Name: "chart/" + f.Name, Mode: 0o644, Size: int64(len(f.Data))}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(f.Data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := zipped.Close(); err != nil {
			t.Fatal(err)
		}
		p[name] = data.Bytes()
	}
	return p
}

// over returns a tree with the charts, or the tree itself if there are none.
func (p packed) over(tree fs.FS) fs.FS {
	if len(p) == 0 {
		return tree
	}
	return overlay.WithCharts(tree, p)
}

func (p packed) Tree(a artifact.Artifact) (fs.FS, artifact.Pin, error) {
	return nil, artifact.Pin{}, &artifact.MissingError{Artifact: a, Why: "it is no chart"}
}

func (p packed) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	data, ok := p[a.Name+"-"+a.Version]
	if !ok {
		return nil, artifact.Pin{}, &artifact.MissingError{Artifact: a, Why: "there is no such archive"}
	}
	sum := sha256.Sum256(data)
	return data, artifact.Pin{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(data))}, nil
}

func (p packed) Artifacts() []artifact.Artifact { return nil }
