package gittree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	runGit(t, ".", "init", "-q", "-b", "main", dir)
	commit := func() *Commit {
		runGit(t, dir, "add", "-A")
		runGit(t, dir, "commit", "-q", "-m", "x")
		c, err := open(t, dir).Commit("HEAD")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	write(t, dir, map[string]string{
		"same/deep/x.yaml": "x", "a/kept.yaml": "k", "a/edited.yaml": "1", "a/gone.yaml": "g",
		"becomes": "a file", "mode.sh": "m", "was/dir.yaml": "d",
	})
	base := commit()
	for _, gone := range []string{"a/gone.yaml", "becomes", "was"} {
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "mode.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a/edited.yaml": "2", "a/new/deep.yaml": "n", "becomes/dir.yaml": "d", "was": "a file"})
	head := commit() // by another *Repository
	got, err := head.Changed(base)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"a/edited.yaml": true, "a/new/deep.yaml": true, "becomes/dir.yaml": true, "mode.sh": true, "was": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if got, err := head.Changed(head); err != nil || len(got) > 0 {
		t.Errorf("itself: %v, %v", got, err)
	}
}
