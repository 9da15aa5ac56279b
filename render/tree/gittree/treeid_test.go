package gittree

import (
	"io/fs"
	"testing"
)

// TestTreeID checks that directories have git's names, and only by paths without symbolic links.
func TestTreeID(t *testing.T) {
	dir := history(t)
	r := open(t, dir)
	tree := func(rev string) *treeFS {
		c, err := r.Commit(rev)
		if err != nil {
			t.Fatal(err)
		}
		return c.FS().(*treeFS)
	}
	for name, path := range map[string]string{".": "", "a": "a", "a/deep": "a/deep"} {
		got, err := tree("main").TreeID(name)
		if want := runGit(t, dir, "rev-parse", "main:"+path); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"top.yaml", "link", "link/deep", "loop", "gone", "a/gone", "../a", "a/../a", "", "/a", "a/"} {
		// Access to a path below a link must not make it known as a directory.
		_, _ = fs.Stat(tree("main"), name)
		if id, err := tree("main").TreeID(name); err == nil {
			t.Errorf("%q is said to be the directory %s", name, id)
		}
	}
	x, errX := tree("main").TreeID("a/deep")
	y, errY := tree("main~2").TreeID("a/deep")
	if x != y || errX != nil || errY != nil {
		t.Errorf("a directory that no commit changed: %s (%v), %s (%v)", x, errX, y, errY)
	}
}

// TestLookupsAgree looks up every path in several ways, so that cached results of one are used for another.
func TestLookupsAgree(t *testing.T) {
	c, err := open(t, history(t)).Commit("main")
	if err != nil {
		t.Fatal(err)
	}
	warm := c.FS().(*treeFS)
	for range 2 {
		for _, name := range []string{
			".", "a", "a/file.yaml", "a/deep", "a/deep/x.yaml", "link", "link/file.yaml", "link/deep/x.yaml", "link/up.yaml",
			"a/up.yaml", "a/up.yaml/x", "absolute", "absolute/x", "out", "loop", "loop/x", "top.yaml/x", "gone", "gone/x", "link/gone",
		} {
			for _, follow := range []bool{true, false} {
				want, wantErr := c.FS().(*treeFS).descend(name, follow)
				got, err := warm.lookup(name, follow)
				if got.Hash != want.Hash || got.Mode != want.Mode || (err == nil) != (wantErr == nil) {
					t.Errorf("%s: %v (%v), want %v (%v)", name, got, err, want, wantErr)
				}
			}
		}
	}
}
