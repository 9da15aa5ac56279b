package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

func open(t *testing.T) *Store { return Open(filepath.Join(t.TempDir(), "cache")) }

func put(t *testing.T, s *Store, content []byte) string {
	t.Helper()
	digest, size, err := s.Put(bytes.NewReader(content), 1<<30)
	if err != nil || size != int64(len(content)) {
		t.Fatal(size, err)
	}
	return digest
}

func TestStore(t *testing.T) {
	s := open(t)
	digest := put(t, s, []byte("content"))
	if again := put(t, s, []byte("content")); again != digest || !artifact.IsDigest(digest) {
		t.Errorf("digests %s and %s", digest, again)
	}
	data, err := s.Bytes(digest, 7)
	if err != nil || string(data) != "content" {
		t.Errorf("%q, %v", data, err)
	}
	large := new(TooLargeError)
	if _, err := s.Bytes(digest, 6); !errors.As(err, &large) {
		t.Errorf("error %v, want that it is too large", err)
	}
	if _, _, err := s.Put(strings.NewReader("content"), 6); !errors.As(err, &large) {
		t.Errorf("error %v, want that it is too large", err)
	}
	for _, digest := range []string{"sha256:" + strings.Repeat("0", 64), "../../etc/passwd", ""} {
		if _, err := s.Bytes(digest, 10); err == nil {
			t.Errorf("%q is there", digest)
		}
	}
	entries, err := os.ReadDir(s.Dir())
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// TestForged checks that a file whose content differs from its name counts as missing.
func TestForged(t *testing.T) {
	s := open(t)
	digest := put(t, s, tarOf(t, false, entry{name: "a.yaml", content: "good"}))
	forge := func() {
		t.Helper()
		if err := os.WriteFile(s.path(digest), tarOf(t, false, entry{name: "a.yaml", content: "evil"}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := s.Tree(digest, DropLinks, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	forge() // while it is open
	if data, err := fs.ReadFile(tree, "a.yaml"); !errors.Is(err, ErrNotStored) {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := s.Bytes(digest, 1<<20); !errors.Is(err, ErrNotStored) {
		t.Error(err)
	}
	if _, err := s.Tree(digest, DropLinks, Limits{}); !errors.Is(err, ErrNotStored) {
		t.Error(err)
	}
	if s.Has(digest) {
		t.Error("it is said to be there")
	}
	if put(t, s, tarOf(t, false, entry{name: "a.yaml", content: "good"})); !s.Has(digest) {
		t.Error("it cannot be repaired")
	}
	// A link instead of a file counts as missing.
	if err := errors.Join(os.Remove(s.path(digest)), os.Symlink("/etc/passwd", s.path(digest))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bytes(digest, 1<<20); !errors.Is(err, ErrNotStored) {
		t.Error(err)
	}
}

func TestTrim(t *testing.T) {
	s := open(t)
	old, kept, young := put(t, s, []byte("old content")), put(t, s, []byte("kept content")), put(t, s, []byte("young content"))
	for i, digest := range []string{old, kept} {
		at := time.Now().Add(-time.Duration(10-i) * time.Hour)
		if err := os.Chtimes(s.path(digest), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Trim(30, []string{kept}); err != nil {
		t.Fatal(err)
	}
	if s.Has(old) || !s.Has(kept) || !s.Has(young) {
		t.Errorf("old %v, kept %v, young %v", s.Has(old), s.Has(kept), s.Has(young))
	}
}

// entry is an entry of an archive in a test.
type entry struct {
	name, content, link string
	kind                byte
	size                int64
}

func tarOf(t *testing.T, zipped bool, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	out := io.WriteCloser(struct {
		io.Writer
		io.Closer
	}{&b, io.NopCloser(nil)})
	if zipped {
		out = gzip.NewWriter(&b)
	}
	w := tar.NewWriter(out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.content)), Mode: 0o644}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if e.size > 0 {
			h.Size = e.size
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(e.content))
	}
	if zipped {
		_ = w.Close()
		_ = out.Close()
	} else {
		_ = w.Flush()
		if entries[len(entries)-1].size == 0 {
			b.Write(make([]byte, 1024))
		}
	}
	return b.Bytes()
}

func TestTree(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		s := open(t)
		digest := put(t, s, tarOf(t, zipped,
			entry{name: "./a/b/c.yaml", content: "c"}, entry{name: "a/d.yaml", content: "d"}, entry{name: "empty"},
			entry{name: "a/link", kind: tar.TypeSymlink, link: "b/c.yaml"}, entry{name: "dir", kind: tar.TypeSymlink, link: "a/b"}))
		tree, err := s.Tree(digest, KeepLinks, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(tree, "a/b/c.yaml", "a/d.yaml", "empty", "a/link"); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{"a/link": "c", "dir/c.yaml": "c", "a/d.yaml": "d"} {
			if data, err := fs.ReadFile(tree, name); err != nil || string(data) != want {
				t.Errorf("%s is %q, %v", name, data, err)
			}
		}
		without, err := s.Tree(digest, DropLinks, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Stat(without, "a/link"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a link that is dropped: %v", err)
		}
	}
}

// TestHostileArchives checks that hostile archives are refused, or lose their hostile entries.
func TestHostileArchives(t *testing.T) {
	small := Limits{Entries: 5, Bytes: 1000, FileBytes: 500, Packed: 800}
	deep := strings.Repeat("a/", 70) + "a"
	for _, test := range []struct {
		name    string
		entries []entry
		want    string
	}{
		{"absolute path", []entry{{name: "/etc/passwd", content: "x"}}, "no relative path"},
		{"path out of it", []entry{{name: "../a", content: "x"}}, "leads out of it"},
		{"path out of it, hidden", []entry{{name: "a/../../b", content: "x"}}, "leads out of it"},
		{"path with backslashes", []entry{{name: `..\a`, content: "x"}}, "no relative path"},
		{"long name", []entry{{name: strings.Repeat("a", 2000), content: "x"}}, "more than 1024 bytes"},
		{"deep name", []entry{{name: deep, content: "x"}}, "more than 64 directories"},
		{"file twice", []entry{{name: "a", content: "x"}, {name: "a", content: "y"}}, "twice"},
		{"file below a file", []entry{{name: "a", content: "x"}, {name: "a/b", content: "y"}}, "no directory"},
		{"file below a link", []entry{{name: "a", kind: tar.TypeSymlink, link: "b"}, {name: "a/b", content: "y"}}, "no directory"},
		{"many entries", []entry{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}, {name: "e"}, {name: "f"}}, "more than 5 entries"},
		{"large file", []entry{{name: "a", content: strings.Repeat("x", 501)}}, "a has more than 500 bytes"},
		{"large files", []entry{{name: "a", content: strings.Repeat("x", 500)}, {name: "b", content: strings.Repeat("x", 500)}, {name: "c", content: "x"}}, "have more than"},
		{"file that is cut off", []entry{{name: "a", size: 400}}, "cut off"},
	} {
		for _, zipped := range []bool{false, true} {
			if zipped && test.name == "file that is cut off" {
				continue // the writer refuses
			}
			s := open(t)
			_, err := s.Tree(put(t, s, tarOf(t, zipped, test.entries...)), KeepLinks, small)
			refused := new(ArchiveError)
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, compressed %v: error %v, want one with %q", test.name, zipped, err, test.want)
			}
		}
	}
	s := open(t)
	tree, err := s.Tree(put(t, s, tarOf(t, true,
		entry{name: "absolute", kind: tar.TypeSymlink, link: "/etc/passwd"}, entry{name: "d/out", kind: tar.TypeSymlink, link: "../../x"},
		entry{name: "hard", kind: tar.TypeLink, link: "/etc/passwd"}, entry{name: "device", kind: tar.TypeChar}, entry{name: "pipe", kind: tar.TypeFifo},
	)), KeepLinks, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := fs.ReadDir(tree, "."); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestBombs checks that a small archive that unpacks to a large size is refused.
func TestBombs(t *testing.T) {
	s := open(t)
	var b bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w := tar.NewWriter(zipped)
	_ = w.WriteHeader(&tar.Header{Name: "a", Size: 30 << 20, Mode: 0o644})
	_, _ = io.CopyN(w, zeros{}, 30<<20)
	_ = errors.Join(w.Close(), zipped.Close())
	refused := new(ArchiveError)
	if _, err := s.Tree(put(t, s, b.Bytes()), DropLinks, Limits{FileBytes: 1 << 30, Packed: 10 << 20}); !errors.As(err, &refused) {
		t.Errorf("%d bytes: error %v", b.Len(), err)
	}
	for name, content := range map[string][]byte{"nothing": nil, "no archive": []byte("hello, this is no archive of any kind"), "bad gzip": {0x1f, 0x8b, 0, 0}} {
		if tree, err := s.Tree(put(t, s, content), DropLinks, Limits{}); err == nil {
			t.Errorf("%s is opened: %v", name, tree)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestPack checks that packing is reproducible, and that the archive opens to the same tree.
func TestPack(t *testing.T) {
	in := fstest.MapFS{
		"b/c.yaml": {Data: []byte("c"), ModTime: time.Now()}, "a.yaml": {Data: []byte("a")},
		"inside": {Data: []byte("a.yaml"), Mode: fs.ModeSymlink}, "b/outside": {Data: []byte("../../a"), Mode: fs.ModeSymlink},
	}
	var one, two bytes.Buffer
	if err := errors.Join(Pack(&one, in, Limits{}), Pack(&two, in, Limits{})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two archives of a tree differ")
	}
	s := open(t)
	tree, err := s.Tree(put(t, s, one.Bytes()), KeepLinks, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(tree, "a.yaml", "b/c.yaml", "inside"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(tree, "b/outside"); err == nil {
		t.Error("a link that leads outside is kept")
	}
	refused := new(ArchiveError)
	if err := Pack(io.Discard, in, Limits{FileBytes: 1, Bytes: 1}); !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
}

func TestLocked(t *testing.T) {
	s := open(t)
	there := artifact.Artifact{Kind: artifact.File, URL: "https://example.com/a.yaml"}
	gone := artifact.Artifact{Kind: artifact.File, URL: "https://example.com/gone.yaml"}
	unknown := artifact.Artifact{Kind: artifact.Git, URL: "https://example.com/a/b"}
	var l lock.Lock
	l.Set(there, artifact.Pin{Digest: put(t, s, []byte("content"))})
	l.Set(gone, artifact.Pin{Digest: "sha256:" + strings.Repeat("0", 64)})
	contents := NewLocked(s, &l, nil)
	if data, _, err := contents.Bytes(there); err != nil || string(data) != "content" {
		t.Errorf("%q, %v", data, err)
	}
	missing := new(artifact.MissingError)
	for _, err := range []error{second(contents.Bytes(gone)), second(contents.Tree(unknown)), second(NewLocked(s, nil, nil).Bytes(there))} {
		if !errors.As(err, &missing) {
			t.Errorf("error %v", err)
		}
	}
}

func second[A, B any](_ A, _ B, err error) error { return err }
