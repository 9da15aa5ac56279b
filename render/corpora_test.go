package render_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree/gittree"
)

// locatedRoots is how many roots there are for each one whose origins are computed, to limit the time of the test.
const locatedRoots = 8

// corpora returns real repositories as git bundles, from PREADMIT_CORPORA or ../shared/corpora next to the repository.
// It skips the test unless all tests run.
func corpora(t *testing.T) []string {
	t.Helper()
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
		t.Skipf("no git bundles under %s: set PREADMIT_CORPORA to compare with kustomize on real repositories", dir)
	}
	return bundles
}

func gitCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// cloned is a checked out bundle with the head branches of its pull requests.
type cloned struct {
	dir      string
	branches []string
	repo     *gittree.Repository
}

// clones are the clones of all tests, below clones.dir, which TestMain removes.
var clones struct {
	sync.Mutex
	dir string
	all map[string]*cloned
}

// clone checks out a bundle and lists the head branches of its pull requests. The tests of a bundle share the clone;
// only one of them may check out other commits.
func clone(t *testing.T, bundle string) *cloned {
	t.Helper()
	clones.Lock()
	defer clones.Unlock()
	if c := clones.all[bundle]; c != nil {
		return c
	}
	full, err := filepath.Abs(bundle)
	if err == nil && clones.dir == "" {
		clones.all = map[string]*cloned{}
		clones.dir, err = os.MkdirTemp("", "corpora-")
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &cloned{dir: filepath.Join(clones.dir, filepath.Base(bundle))}
	gitCommand(t, ".", "clone", "--quiet", "--no-checkout", full, c.dir)
	refs := gitCommand(t, c.dir, "for-each-ref", "--format=%(refname:short)", "refs/remotes/origin")
	for _, ref := range strings.Fields(refs) {
		if strings.HasSuffix(ref, "-head") {
			c.branches = append(c.branches, ref)
		}
	}
	sort.Strings(c.branches)
	if c.repo, err = gittree.Open(c.dir); err != nil {
		t.Fatal(err)
	}
	clones.all[bundle] = c
	return c
}

// tree returns the tree of a branch.
func (c *cloned) tree(t *testing.T, branch string) fs.FS {
	t.Helper()
	commit, err := c.repo.Commit(branch)
	if err != nil {
		t.Fatal(err)
	}
	return commit.FS()
}

func everyLeaf(value any, path string, do func(string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			everyLeaf(v[key], origin.AppendKey(path, key), do)
		}
	case []any:
		for i, item := range v {
			everyLeaf(item, fmt.Sprintf("%s[%d]", path, i), do)
		}
	default:
		do(path)
	}
}
