package render_test

import (
	"bytes"
	"context"
	"encoding/json"
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
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree/gittree"
)

// locatedRoots: one root in so many has its sources looked for, to bound the
// time of the test.
const locatedRoots = 8

// corpora returns real repositories as git bundles, in PREADMIT_CORPORA or
// ../shared/corpora next to the repository, for a test that runs with all tests.
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

// cloned is a bundle that is checked out, with the head branches of its pull requests.
type cloned struct {
	dir      string
	branches []string
	repo     *gittree.Repository
}

// clones are made once for all tests, below clonesDir, which TestMain removes.
var clones struct {
	sync.Mutex
	dir string
	all map[string]*cloned
}

// clone checks a bundle out and lists the head branches of its pull requests. The tests of a
// bundle share the clone; only one of them may check other commits out.
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

// tree is that of a branch.
func (c *cloned) tree(t *testing.T, branch string) fs.FS {
	t.Helper()
	commit, err := c.repo.Commit(branch)
	if err != nil {
		t.Fatal(err)
	}
	return commit.FS()
}

// TestCorporaLikeKustomize renders every root of real repositories from git
// objects and compares with kustomize on a checkout: same bytes, or both fail. What is read and
// missed must have been foreseen.
func TestCorporaLikeKustomize(t *testing.T) {
	for _, bundle := range corpora(t) {
		t.Run(strings.TrimSuffix(filepath.Base(bundle), ".bundle"), func(t *testing.T) {
			t.Parallel()
			c := clone(t, bundle)
			seen := map[string]bool{}
			for _, branch := range c.branches {
				gitCommand(t, c.dir, "checkout", "--quiet", "--force", branch)
				compareTree(t, branch, c.tree(t, branch), c.dir, seen)
			}
		})
	}
}

// compareTree looks at the roots of a tree whose inputs, which decide what they render to, no
// tree before it had.
func compareTree(t *testing.T, branch string, fsys fs.FS, dir string, seen map[string]bool) {
	t.Helper()
	start := time.Now()
	foreseeing := sources.NewRenderer(fsys, render.Options{})
	d, err := foreseeing.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	discovered := time.Since(start)
	for _, diagnostic := range d.Diagnostics {
		t.Logf("%s: %s: %s %s", branch, diagnostic.Position, diagnostic.Severity, diagnostic.Message)
	}
	counts := map[string]int{}
	var rendering, locating time.Duration
	r := sources.NewRenderer(fsys, render.Options{})
	for _, root := range d.Roots {
		counts[string(root.Kind)]++
		in := foreseeing.Needs(root)
		id := fmt.Sprint(root, in.Trace.Entries(), in.Problem)
		if seen[id] {
			continue
		}
		seen[id] = true
		start := time.Now()
		result := r.Render(context.Background(), root)
		rendering += time.Since(start)
		counts[outcome(result)]++
		counts["compared"]++
		counts["looked for"] += checkNeeds(t, r, in, result, objectsLookedFor)
		compareRoot(t, r, root, result, dir)
		if result.Problem == nil && counts["compared"]%locatedRoots == 0 {
			start = time.Now()
			checkSources(t, r, root, result, counts)
			locating += time.Since(start)
		}
	}
	t.Logf("%s: %v, discovery %v, rendering %v, sources %v", branch, counts, discovered, rendering, locating)
}

func outcome(r *render.Result) string {
	if r.Problem != nil {
		return string(r.Problem.Kind)
	}
	return "rendered"
}

func compareRoot(t *testing.T, r *render.Renderer, root render.Root, result *render.Result, dir string) {
	t.Helper()
	if result.Problem != nil {
		checkProblem(t, r, root, result.Problem)
	}
	if root.Kind != render.KindKustomize || (result.Problem != nil && result.Problem.Kind == render.ProblemRefused) {
		return
	}
	k := krusty.MakeKustomizer(&krusty.Options{
		Reorder: krusty.ReorderOptionUnspecified, LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()})
	onDisk, err := k.Run(filesys.MakeFsOnDisk(), filepath.Join(dir, filepath.FromSlash(root.Dir)))
	if (err != nil) != (result.Problem != nil) {
		t.Errorf("%s: kustomize says %v, we say %v", root.Dir, err, result.Problem)
		return
	}
	if err != nil || sameJSON(t, result.Objects, onDisk) {
		return
	}
	want, err := onDisk.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for i, o := range result.Objects {
		if i > 0 {
			got.WriteString("---\n")
		}
		got.Write(asYAML(t, o.Content()))
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: the output differs from kustomize's: %s", root.Dir, cmp.Diff(string(want), got.String()))
	}
}

// sameJSON reports whether objects are the same as JSON, which is what kustomize makes its
// output of, an object after the other.
func sameJSON(t *testing.T, objects []*render.Object, want resmap.ResMap) bool {
	t.Helper()
	if len(objects) != want.Size() {
		return false
	}
	for i, r := range want.Resources() {
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(objects[i].Content())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.TrimSpace(text), got) {
			return false
		}
	}
	return true
}

// asYAML writes an object as kustomize does.
func asYAML(t *testing.T, content map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	out, err := sigsyaml.JSONToYAML(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkProblem wants every problem to point into the tree.
func checkProblem(t *testing.T, r *render.Renderer, root render.Root, p *render.Problem) {
	t.Helper()
	if strings.Contains(p.Message, build.Mount) || p.Message == "" {
		t.Errorf("%s: message %q", root.Dir, p.Message)
	}
	if _, err := r.Tree().Stat(p.Path); err != nil {
		t.Errorf("%s: the problem points at %s: %v", root.Dir, p.Path, err)
	}
	if os.Getenv("PREADMIT_VERBOSE") != "" {
		t.Logf("%s: %s: %s", root.Dir, p.Kind, p)
	}
}

// checkSources wants sources for every object. TestProvenance looks at the fields.
func checkSources(t *testing.T, r *render.Renderer, root render.Root, result *render.Result, counts map[string]int) {
	t.Helper()
	sources, err := r.Origins(context.Background(), result)
	if err != nil {
		t.Fatalf("%s: %v", root.Dir, err)
	}
	if len(sources) != len(result.Objects) {
		t.Fatalf("%s: %d sources for %d objects", root.Dir, len(sources), len(result.Objects))
	}
	for _, s := range sources {
		counts["objects"]++
		if s.Document().Line == 0 {
			counts["undocumented"]++
		}
		if !s.HasFields() {
			counts["inexact"]++
		}
	}
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
