package scanner_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// seededEdits is the number of single-file edits of each repository, unless PREADMIT_PLAN_EDITS
// sets it.
const seededEdits = 2

// TestCorpora checks real repositories, which are git bundles in PREADMIT_CORPORA, or in
// ../shared/corpora next to the repository. Rendering takes most of the time, so both parts share
// rendered roots through a cache.
func TestCorpora(t *testing.T) {
	testall.Long(t)
	dir := os.Getenv("PREADMIT_CORPORA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpora")
	}
	bundles, err := filepath.Glob(filepath.Join(dir, "gitops", "*.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	if len(bundles) == 0 {
		t.Skipf("no git bundles under %s: set PREADMIT_CORPORA to look at real repositories", dir)
	}
	for _, bundle := range bundles {
		t.Run(strings.TrimSuffix(filepath.Base(bundle), ".bundle"), func(t *testing.T) {
			t.Parallel()
			c := &corpus{}
			c.open(t, bundle)
			t.Run("like kustomize", c.likeKustomize)
			t.Run("rendering less", c.renderingLess)
		})
	}
}

// corpus is a real repository. All of its trees share a cache of rendered roots.
type corpus struct {
	dir     string
	options render.Options
	// numbers are those of the pull requests, trees their two sides.
	numbers []string
	trees   map[string]fs.FS

	compared, untouched, findings, indeterminate int
}

func (c *corpus) open(t *testing.T, bundle string) {
	t.Helper()
	c.dir = filepath.Join(t.TempDir(), "clone")
	abs, err := filepath.Abs(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "clone", "--quiet", "--no-checkout", abs, c.dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	repo, err := gittree.Open(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	c.trees = map[string]fs.FS{}
	for _, ref := range strings.Fields(c.git(t, "for-each-ref", "--format=%(refname:short)", "refs/remotes/origin")) {
		commit, err := repo.Commit(ref)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(ref, "origin/")
		c.trees[name] = commit.FS()
		if number, ok := strings.CutSuffix(name, "-head"); ok {
			c.numbers = append(c.numbers, number)
		}
	}
	slices.Sort(c.numbers)
	cache, err := render.OpenCache(t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	c.options.Cache = cache
}

// git runs git in the clone.
func (c *corpus) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", c.dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// renderingLess compares scans of pull requests, and of pseudorandom edits of single files, with
// scans that render everything.
func (c *corpus) renderingLess(t *testing.T) {
	c.compareAll(t)
	t.Logf("%d pull requests and edits compared: %d roots left out, %d findings, %d indeterminate", c.compared, c.untouched, c.findings, c.indeterminate)
}

// compareAll compares pull requests, and edits of the head of the first one.
func (c *corpus) compareAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edits := newEdits(t, c.trees[c.numbers[0]+"-head"])
	for range numberOf(t, "PREADMIT_PLAN_EDITS", seededEdits) {
		name, edited := edits.next(random)
		c.compare(t, name, edits.tree, edited)
	}
	for _, number := range c.numbers {
		c.compare(t, number, c.trees[number+"-base"], c.trees[number+"-head"])
	}
}

func (c *corpus) compare(t *testing.T, name string, base, head fs.FS) {
	t.Helper()
	in := scanner.Input{
		Base: &scanner.Tree{FS: base, Revision: report.Revision{Name: "base"}},
		Head: scanner.Tree{FS: head, Revision: report.Revision{Name: "head"}}, Render: c.options,
	}
	whole, err := scanner.ScanWhole(context.Background(), in)
	if err != nil {
		t.Fatalf("%s: scan everything: %v", name, err)
	}
	got, err := scanner.Scan(context.Background(), in)
	if err != nil {
		t.Fatalf("%s: scan: %v", name, err)
	}
	if diff := planDiff(whole, got); diff != "" {
		t.Errorf("%s: rendering less says something else (-everything +what matters):\n%s", name, diff)
	}
	c.compared++
	c.untouched += got.Summary.Roots.Untouched
	c.findings += len(got.Findings)
	c.indeterminate += len(got.Indeterminate)
}

// edits makes random edits of the files of a tree.
type edits struct {
	tree  fs.FS
	files []string
}

func newEdits(t *testing.T, tree fs.FS) *edits {
	t.Helper()
	e := &edits{tree: tree}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if ext := path.Ext(name); err == nil && entry.Type().IsRegular() && (ext == ".yaml" || ext == ".yml" || ext == ".json") {
			e.files = append(e.files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// next edits a file and returns a description.
func (e *edits) next(random *rand.Rand) (name string, edited fs.FS) {
	for {
		file := e.files[random.IntN(len(e.files))]
		data, err := fs.ReadFile(e.tree, file)
		if err != nil {
			continue
		}
		how := random.IntN(6)
		if changed, ok := edit(random, how, data); ok {
			return fmt.Sprintf("edit %d of %s", how, file), &editedTree{e.tree, file, fstest.MapFS{file: {Data: changed, Mode: 0o644}}}
		}
	}
}

// edit changes a manifest; ok is false if it stays the same.
func edit(random *rand.Rand, how int, data []byte) (changed []byte, ok bool) {
	documents := bytes.Split(data, []byte("\n---\n"))
	i := random.IntN(len(documents))
	switch how {
	case 0: // remove a line
		lines := bytes.SplitAfter(data, []byte("\n"))
		j := random.IntN(len(lines))
		changed = bytes.Join(slices.Delete(lines, j, j+1), nil)
	case 1:
		changed = bytes.Join(slices.Delete(documents, i, i+1), []byte("\n---\n"))
	case 2:
		changed = bytes.Join(append(documents, documents[i]), []byte("\n---\n"))
	case 3:
		changed = bytes.ReplaceAll(data, []byte("namespace: "), []byte("namespace: other-"))
	case 4:
		changed = bytes.ReplaceAll(data, []byte("  name: "), []byte("  name: other-"))
	case 5:
		changed = append(slices.Clone(data), "\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: added, namespace: konflux}\nspec:\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n"...)
	}
	return changed, !bytes.Equal(changed, data)
}

// editedTree is a tree in which one file has different content.
type editedTree struct {
	fs.FS
	file   string
	edited fstest.MapFS
}

// Open implements fs.FS.
func (t *editedTree) Open(name string) (fs.File, error) {
	if name == t.file {
		return t.edited.Open(name)
	}
	return t.FS.Open(name)
}

// Lstat implements fs.ReadLinkFS.
func (t *editedTree) Lstat(name string) (fs.FileInfo, error) {
	if name == t.file {
		return t.edited.Stat(name)
	}
	return fs.Lstat(t.FS, name)
}

// ReadLink implements fs.ReadLinkFS.
func (t *editedTree) ReadLink(name string) (string, error) { return fs.ReadLink(t.FS, name) }
