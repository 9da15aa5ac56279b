package gittree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForgedRepository checks that a directory of the work tree that looks like a bare repository is not opened, by its
// own path or by one below it.
func TestForgedRepository(t *testing.T) {
	dir := history(t)
	forged := filepath.Join(dir, "a", "forged")
	runGit(t, ".", "clone", "-q", "--bare", dir, forged)
	write(t, forged, map[string]string{"app/x.yaml": "x"})
	for name, prefix := range map[string]string{"a/forged": "a/forged", "a/forged/app": "a/forged/app", ".git": ".git", ".git/refs": ".git/refs"} {
		r := open(t, filepath.Join(dir, name))
		if r.Root() != dir || r.Prefix() != prefix {
			t.Errorf("%s: opened %s with the prefix %s", name, r.Root(), r.Prefix())
		}
	}

	// Repositories inside .git are not committed content.
	module := filepath.Join(dir, ".git", "modules", "x")
	runGit(t, ".", "clone", "-q", "--bare", dir, module)
	if r := open(t, module); r.Root() != module {
		t.Errorf("opened %s", r.Root())
	}

	// Outside of work trees a bare repository is opened by its own path only.
	bare := filepath.Join(t.TempDir(), "bare.git")
	runGit(t, ".", "clone", "-q", "--bare", dir, bare)
	write(t, bare, map[string]string{"app/x.yaml": "x"})
	if r := open(t, bare); r.Root() != bare {
		t.Errorf("opened %s", r.Root())
	}
	if _, err := Open(filepath.Join(bare, "app")); !errors.Is(err, ErrNotRepository) {
		t.Errorf("below a bare repository: %v", err)
	}
}

// TestObjectNames checks that a branch with the name of an object does not replace the object.
func TestObjectNames(t *testing.T) {
	dir := history(t)
	first, last := runGit(t, dir, "rev-parse", "main~2"), runGit(t, dir, "rev-parse", "main")
	absent := strings.Repeat("ab", 20)
	for _, name := range []string{first, absent} {
		write(t, dir, map[string]string{".git/refs/heads/" + name: last + "\n"})
	}
	runGit(t, dir, "tag", "-a", "-m", "t", "inner", first)
	runGit(t, dir, "tag", "-a", "-m", "t", "outer", "inner")
	tag := runGit(t, dir, "rev-parse", "outer")
	r := open(t, dir)
	for _, name := range []string{first, tag} {
		c, err := r.Commit(name)
		if err != nil || c.Hash() != first {
			t.Errorf("%s: %v %v", name, c, err)
		}
	}
	var missing *MissingRevisionError
	if c, err := r.Commit(absent); !errors.As(err, &missing) {
		t.Errorf("a branch's commit came for an object: %v %v", c, err)
	}
	tree := runGit(t, dir, "rev-parse", "main^{tree}")
	if c, err := r.Commit(tree); err == nil {
		t.Errorf("a tree came as a commit: %v", c)
	}

	// An object that is stored under another name.
	read := func(name string) string { return filepath.Join(dir, ".git", "objects", name[:2], name[2:]) }
	if err := copyFile(read(last), read(absent)); err != nil {
		t.Fatal(err)
	}
	if c, err := open(t, dir).Commit(absent); err == nil {
		t.Errorf("%s came for %s", c.Hash(), absent)
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o444)
}
