package gittree

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// runGit runs git without the user's configuration.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(to, full); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// history returns a repository with the commits c1 - c2 - c3 (main), and c2 - side.
func history(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	runGit(t, ".", "init", "-q", "-b", "main", dir)
	write(t, dir, map[string]string{
		"a/file.yaml": "one", "a/deep/x.yaml": "x", "top.yaml": "top", "link": "-> a", "a/up.yaml": "-> ../top.yaml",
		"absolute": "-> /etc/hostname", "out": "-> ../../etc/hostname", "loop": "-> loop",
	})
	commit := func(text string) {
		write(t, dir, map[string]string{"a/file.yaml": text})
		runGit(t, dir, "add", "-A")
		runGit(t, dir, "commit", "-q", "-m", text)
	}
	commit("c1")
	commit("c2")
	runGit(t, dir, "checkout", "-q", "-b", "side")
	commit("side")
	runGit(t, dir, "checkout", "-q", "main")
	commit("c3")
	return dir
}

func open(t *testing.T, path string) *Repository {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func content(t *testing.T, r *Repository, rev, name string) string {
	t.Helper()
	c, err := r.Commit(rev)
	if err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(c.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCommitTree(t *testing.T) {
	dir := history(t)
	r := open(t, filepath.Join(dir, "a", "deep"))
	if r.Prefix() != "a/deep" {
		t.Errorf("prefix %q", r.Prefix())
	}
	c, err := r.Commit("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if want := runGit(t, dir, "rev-parse", "HEAD"); c.Hash() != want {
		t.Errorf("hash %s, want %s", c.Hash(), want)
	}
	for rev, want := range map[string]string{"main": "c3", "HEAD~1": "c2", "side": "side", c.Hash()[:10]: "c3", "refs/heads/side": "side"} {
		if got := content(t, r, rev, "a/file.yaml"); got != want {
			t.Errorf("%s: %q, want %q", rev, got, want)
		}
	}
	sub, err := fs.Sub(c.FS(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(sub, "file.yaml", "deep/x.yaml", "up.yaml"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"link/file.yaml": "c3", "a/up.yaml": "top", "link/up.yaml": "top"} {
		if data, err := fs.ReadFile(c.FS(), name); err != nil || string(data) != want {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	for name, want := range map[string]string{
		"absolute": "absolute target", "out": "out of the tree", "loop": "too many", "none": "not exist", "top.yaml/x": "not a directory", "a": "is a directory",
	} {
		if _, err := fs.ReadFile(c.FS(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestConcurrentReads(t *testing.T) {
	c, err := open(t, history(t)).Commit("main")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			err := fs.WalkDir(c.FS(), ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					_, err = fs.ReadFile(c.FS(), name)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// TestLayouts opens the same history in every layout of a repository on disk.
func TestLayouts(t *testing.T) {
	dir := history(t)
	tmp := t.TempDir()
	at := func(name string) string { return filepath.Join(tmp, name) }
	runGit(t, ".", "clone", "-q", "--bare", dir, at("bare.git"))
	runGit(t, dir, "worktree", "add", "-q", at("linked"), "side")
	runGit(t, ".", "clone", "-q", "--shared", dir, at("alternates"))
	runGit(t, ".", "clone", "-q", "--no-checkout", dir, at("packed"))
	runGit(t, at("packed"), "gc", "-q")
	runGit(t, ".", "clone", "-q", "--depth=1", "file://"+dir, at("shallow"))
	runGit(t, ".", "clone", "-q", dir, at("extended"))
	runGit(t, at("extended"), "config", "core.repositoryformatversion", "1")
	runGit(t, at("extended"), "config", "extensions.worktreeConfig", "true")
	runGit(t, at("extended"), "config", "extensions.partialClone", "origin")
	alternates := filepath.Join(at("relative"), ".git", "objects", "info", "alternates")
	runGit(t, ".", "clone", "-q", "--shared", dir, at("relative"))
	objects, err := filepath.Rel(filepath.Join(at("relative"), ".git", "objects"), filepath.Join(dir, ".git", "objects"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, "/", map[string]string{alternates: objects + "\n"})
	workdir := map[string]string{"HEAD": "ref: refs/heads/main\n"}
	for _, part := range []string{"config", "refs", "objects", "packed-refs", "info"} {
		workdir[part] = "-> " + filepath.Join(at("packed"), ".git", part)
	}
	write(t, filepath.Join(at("workdir"), ".git"), workdir)
	for name, want := range map[string]string{
		"workdir": "c3", "bare.git": "c3", "linked": "side", "alternates": "c3", "packed": "c3", "shallow": "c3", "extended": "c3", "relative": "c3",
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, at(name))
			if got := content(t, r, "HEAD", "a/file.yaml"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			whole, err := r.Commit("HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.Commit(whole.Hash()[:8]); err != nil || got.Hash() != whole.Hash() {
				t.Errorf("by the beginning of its hash: %v, %v", got, err)
			}
		})
	}
	if _, err := open(t, at("bare.git")).WorkTree(); err == nil || !strings.Contains(err.Error(), "bare") {
		t.Errorf("work tree of a bare repository: %v", err)
	}
}

func TestMergeBase(t *testing.T) {
	dir := history(t)
	base := func(path, a, b string) (string, error) {
		r := open(t, path)
		ca, err := r.Commit(a)
		if err != nil {
			t.Fatal(err)
		}
		cb, err := r.Commit(b)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.MergeBase(ca, cb)
		if err != nil {
			return "", err
		}
		return m.Hash(), nil
	}
	for _, pair := range [][2]string{{"main", "side"}, {"side", "main"}, {"main", "main~1"}, {"main", "main"}} {
		got, err := base(dir, pair[0], pair[1])
		if want := runGit(t, dir, "merge-base", pair[0], pair[1]); err != nil || got != want {
			t.Errorf("%v: %s %v, want %s", pair, got, err, want)
		}
	}
	runGit(t, dir, "checkout", "-q", "main")
	runGit(t, dir, "merge", "-q", "-s", "ours", "-m", "merge", "side")
	if got, err := base(dir, "main", "side"); err != nil || got != runGit(t, dir, "rev-parse", "side") {
		t.Errorf("after a merge: %s %v", got, err)
	}
	runGit(t, dir, "checkout", "-q", "--orphan", "lonely")
	runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "lonely")
	if _, err := base(dir, "main", "lonely"); err == nil || !strings.Contains(err.Error(), "no commit in common") {
		t.Errorf("unrelated histories: %v", err)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	runGit(t, ".", "clone", "-q", "--depth=1", "--no-single-branch", "file://"+history(t), shallow)
	if _, err := base(shallow, "origin/main", "origin/side"); err == nil || !strings.Contains(err.Error(), "fetch --unshallow") {
		t.Errorf("shallow: %v", err)
	}
	runGit(t, shallow, "fetch", "-q", "--depth=2", "origin", "main", "side")
	if got, err := base(shallow, "origin/main", "origin/side"); err != nil || got != runGit(t, shallow, "rev-parse", "origin/main~1") {
		t.Errorf("shallow, deep enough: %s %v", got, err)
	}
}

func TestMissing(t *testing.T) {
	dir := history(t)
	shallow := filepath.Join(t.TempDir(), "shallow")
	runGit(t, ".", "clone", "-q", "--depth=1", "--no-single-branch", "file://"+dir, shallow)
	empty := filepath.Join(t.TempDir(), "empty")
	runGit(t, ".", "init", "-q", empty)
	hash := strings.Repeat("ab", 20)
	for _, c := range []struct{ path, rev, want string }{
		{dir, "release", "`git fetch origin release:release`"},
		{dir, "release~1", "`git fetch origin release:release`"},
		{shallow, "side", `revision "side" is not in this repository, but origin/side is: give origin/side`},
		{shallow, "side~1", "`git fetch origin side:side`"},
		{shallow, "origin/side~1", "`git fetch --unshallow origin`"},
		{dir, "origin/main", "`git fetch origin main:refs/remotes/origin/main`"},
		{dir, hash, "`git fetch --depth=1 origin " + hash + "`"},
		{shallow, "origin/none", "fetch-depth: 0"},
		{shallow, "HEAD~1", "--unshallow"},
		{empty, "HEAD", "no commits yet"},
		{dir, "^", "revision"},
		{dir, "", "revision"},
	} {
		_, err := open(t, c.path).Commit(c.rev)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", filepath.Base(c.path), c.rev, err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("no repository: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no path: %v", err)
	}
}

func listing(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWorkTree compares with what git itself would add.
func TestWorkTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	runGit(t, ".", "init", "-q", dir)
	write(t, dir, map[string]string{
		".gitignore": "# comment\n*.log\n!keep.log\n/build/\ndocs/**/draft.yaml\n**/cache\nsub/only.yaml\n\\#odd\nspace\\ \n[!a-y].txt\nfoo/*\n!foo/bar\n",
		"a.yaml":     "a", "x.log": "x", "keep.log": "k", "sub/deep/y.log": "y", "build/out.yaml": "o", "sub/build/in.yaml": "i",
		"docs/draft.yaml": "d", "docs/a/b/draft.yaml": "d", "docs/a/final.yaml": "f", "q/cache/z.yaml": "z", "sub/only.yaml": "o",
		"q/sub/only.yaml": "o", "sub/.gitignore": "local.yaml\n!deep/y.log\n/top.yaml", "sub/local.yaml": "l", "sub/deep/local.yaml": "l",
		"sub/deep/top.yaml": "t", "sub/top.yaml": "t", "tracked.log": "t", "build/tracked.yaml": "t", "#odd": "o", "z.txt": "z", "a.txt": "a",
		".git/info/exclude": "excluded.yaml\n", "excluded.yaml": "e", "link.yaml": "-> a.yaml", "foo/bar": "b", "foo/baz": "b", "removed.yaml": "r",
		"toignored.yaml": "-> build/out.yaml",
	})
	runGit(t, dir, "add", "-f", "tracked.log", "build/tracked.yaml", "a.yaml", "removed.yaml")
	runGit(t, dir, "commit", "-q", "-m", "c")
	runGit(t, ".", "init", "-q", filepath.Join(dir, "nested"))
	write(t, dir, map[string]string{"nested/n.yaml": "n"})
	if err := os.Remove(filepath.Join(dir, "removed.yaml")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a.yaml": "edited"})
	fsys, err := open(t, dir).WorkTree()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range strings.Split(runGit(t, dir, "-c", "core.quotePath=false", "ls-files", "--cached", "--others", "--exclude-standard"), "\n") {
		if name != "removed.yaml" && name != "nested/" {
			want = append(want, name)
		}
	}
	less := cmp.Transformer("set", func(names []string) map[string]bool {
		set := map[string]bool{}
		for _, n := range names {
			set[n] = true
		}
		return set
	})
	if diff := cmp.Diff(want, listing(t, fsys), less); diff != "" {
		t.Errorf("-git +work tree: %s", diff)
	}
	if data, err := fs.ReadFile(fsys, "link.yaml"); err != nil || string(data) != "edited" {
		t.Errorf("link: %q %v", data, err)
	}
	for _, hidden := range []string{".git/HEAD", "build/out.yaml", "x.log", "nested/n.yaml", "toignored.yaml", "removed.yaml"} {
		if _, err := fs.ReadFile(fsys, hidden); err == nil {
			t.Errorf("%s can be read", hidden)
		}
		if hidden == "toignored.yaml" {
			continue
		}
		if _, err := fsys.(fs.ReadLinkFS).Lstat(hidden); err == nil {
			t.Errorf("%s can be seen", hidden)
		}
	}
}

func TestSubmodule(t *testing.T) {
	inner, outer := history(t), history(t)
	runGit(t, outer, "submodule", "add", "-q", inner, "vendored")
	runGit(t, outer, "commit", "-q", "-m", "submodule")
	r := open(t, outer)
	c, err := r.Commit("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	work, err := r.WorkTree()
	if err != nil {
		t.Fatal(err)
	}
	for what, fsys := range map[string]fs.FS{"commit": c.FS(), "work tree": work} {
		if _, err := fs.ReadFile(fsys, "vendored/top.yaml"); err == nil || !strings.Contains(err.Error(), "submodule") {
			t.Errorf("%s: %v", what, err)
		}
		known := fsys.(interface{ Submodule(string) (string, bool) })
		if commit, ok := known.Submodule("vendored"); !ok || len(commit) != 40 || strings.Trim(commit, "0") == "" {
			t.Errorf("%s: the submodule is at %q", what, commit)
		}
		if _, ok := known.Submodule("a"); ok {
			t.Errorf("%s: a directory is a submodule", what)
		}
	}
	if got := content(t, open(t, filepath.Join(outer, "vendored")), "HEAD", "a/file.yaml"); got != "c3" {
		t.Errorf("inside the submodule: %q", got)
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"in/a.yaml": "a", "secret": "s", "in/ok": "-> a.yaml", "in/out": "-> ../secret", "in/abs": "-> " + dir + "/secret"})
	fsys, err := Dir(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := fs.ReadFile(fsys, "ok"); err != nil || string(data) != "a" {
		t.Errorf("ok: %q %v", data, err)
	}
	for _, name := range []string{"out", "abs", "../secret"} {
		if data, err := fs.ReadFile(fsys, name); err == nil {
			t.Errorf("%s: %q", name, data)
		}
	}
	if _, err := Dir(filepath.Join(dir, "none")); err == nil {
		t.Error("opened a directory that is not there")
	}
}

// TestOddNames checks that a name which is not valid UTF-8 is escaped, so that the file is not missed.
func TestOddNames(t *testing.T) {
	dir := history(t)
	write(t, dir, map[string]string{"odd/\xff.yaml": "one", "odd/\\xff.yaml": "two", "\xfe/b.yaml": "three"})
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "odd")
	r := open(t, dir)
	for name, want := range map[string]string{`odd/\xff.yaml`: "two", `odd/_\xff.yaml`: "one", `\xfe/b.yaml`: "three"} {
		if got := content(t, r, "HEAD", name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
