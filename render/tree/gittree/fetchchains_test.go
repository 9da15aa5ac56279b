package gittree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// chained returns a repository with one commit of n files of size bytes, each of which is a delta of the one before, as
// far as git builds chains.
func chained(t *testing.T, n, size int) (root, hash string) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, "repo")
	runGit(t, ".", "init", "-q", "-b", "main", dir)
	text := make([]byte, size)
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(b []byte) {
		for i := range b {
			b[i] = byte('!' + random.IntN(94))
		}
	}
	noise(text)
	for i := range n {
		noise(text[i*2000:][:2000]) // each file keeps the changes of the files before it
		write(t, dir, map[string]string{fmt.Sprintf("f%02d", i): string(text[:size-i])})
	}
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "Chain")
	runGit(t, dir, "repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=50")
	return root, runGit(t, dir, "rev-parse", "HEAD")
}

// TestFetchLimitOfChains checks the limit of delta chains: go-git keeps all objects of a chain in memory, so that a few
// bytes of a pack took gigabytes.
func TestFetchLimitOfChains(t *testing.T) {
	root, hash := chained(t, 8, 100_000)
	dir := filepath.Join(root, "repo")
	if out := runGit(t, dir, "verify-pack", "-v", packOf(t, dir)); !strings.Contains(out, "chain length = 3") {
		t.Fatalf("no chain in the pack, so that nothing is tested:\n%s", out)
	}
	if info, err := os.Stat(packOf(t, dir)); err != nil || info.Size() > 150_000 {
		t.Fatalf("the pack is no small one: %v, %v", info, err)
	}
	remote := Remote{URL: serveGit(t, root, "").URL + "/repo", Limits: Limits{Object: 100_000, Unpacked: 1_000_000}}
	_, err := Fetch(t.Context(), t.TempDir(), remote, hash)
	var over *LimitError
	if !errors.As(err, &over) || over.Limit != LimitChain || over.Max != 200_000 {
		t.Errorf("error %v, want one of the limit %s", err, LimitChain)
	}
	remote.Limits.Object = 500_000
	r, err := Fetch(t.Context(), t.TempDir(), remote, hash)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, r, hash, "f07"); len(got) != 99_993 {
		t.Errorf("f07 has %d bytes", len(got))
	}
}

// TestChains checks the sums for deltas that refer to their base by offset, and for those that refer to it by name,
// which may follow later.
func TestChains(t *testing.T) {
	const blob, there, named = plumbing.BlobObject, plumbing.OFSDeltaObject, plumbing.REFDeltaObject
	type object struct {
		kind     plumbing.ObjectType
		at, base int64
		size     int64
	}
	for _, test := range []struct {
		name    string
		objects []object
		fits    bool
	}{
		{"no deltas", []object{{blob, 1, 0, 100}, {blob, 2, 0, 100}}, true},
		{"many of one", []object{{blob, 1, 0, 50}, {there, 2, 1, 50}, {there, 3, 1, 50}}, true},
		{"a chain", []object{{blob, 1, 0, 50}, {there, 2, 1, 50}, {there, 3, 2, 1}}, false},
		{"too large a first", []object{{blob, 1, 0, 99}, {there, 2, 1, 2}}, false},
		{"named", []object{{blob, 1, 0, 50}, {named, 2, 0, 25}, {named, 3, 0, 25}}, true},
		{"a chain of named", []object{{blob, 1, 0, 50}, {named, 2, 0, 25}, {named, 3, 0, 26}}, false},
		{"named before what it is of", []object{{named, 1, 0, 25}, {there, 2, 1, 25}, {blob, 3, 0, 51}}, false},
		{"named after many", []object{{blob, 1, 0, 50}, {there, 2, 1, 40}, {there, 3, 1, 40}, {named, 4, 0, 1}}, false},
	} {
		made, err := chains{most: 100}, error(nil)
		for _, o := range test.objects {
			if err == nil {
				err = made.add(&packfile.ObjectHeader{Type: o.kind, Offset: o.at, OffsetReference: o.base}, o.size)
			}
		}
		var over *LimitError
		if (err == nil) != test.fits || err != nil && !errors.As(err, &over) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	made := chains{most: 100}
	if err := made.add(&packfile.ObjectHeader{Type: there, Offset: 9, OffsetReference: 5}, 1); err == nil {
		t.Error("a delta of nothing was taken")
	}
}
