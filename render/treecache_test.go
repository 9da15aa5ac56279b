package render_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/render/tree/treetest"
)

// insight is everything that is known about a tree without rendering it.
type insight struct {
	found  *render.Discovery
	inputs map[string]*render.Needs
}

func insightOf(t *testing.T, r *render.Renderer) insight {
	t.Helper()
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	k := insight{found: found, inputs: map[string]*render.Needs{}}
	for _, root := range found.Roots {
		k.inputs[root.Dir] = r.Needs(root)
	}
	return k
}

// diff compares two insights. Most are equal, which cmp would need a long time to find.
func (k insight) diff(other insight) string {
	if reflect.DeepEqual(k.found, other.found) && maps.EqualFunc(k.inputs, other.inputs, sameNeeds) {
		return ""
	}
	return cmp.Diff(k.found, other.found) + cmp.Diff(k.inputs, other.inputs,
		cmp.AllowUnexported(render.Needs{}), cmpopts.IgnoreFields(render.Needs{}, "tree", "words", "Composition.Resources"), cmpopts.EquateEmpty())
}

// sameNeeds reports whether needs are equal, except for their tree and where they come from. It distinguishes empty and
// nil lists.
func sameNeeds(a, b *render.Needs) bool {
	return reflect.DeepEqual(a.Trace, b.Trace) && reflect.DeepEqual(a.Composition, b.Composition) && cmp.Equal(a, b,
		cmp.AllowUnexported(render.Needs{}), cmpopts.IgnoreFields(render.Needs{}, "Trace", "Composition", "tree", "words", "textWords"))
}

// variants returns changed trees: with each of the files edited, deleted, or of another type, and with each directory
// moved and linked to.
func variants(files fstest.MapFS) map[string]fstest.MapFS {
	out := map[string]fstest.MapFS{"the same": files}
	with := func(how, name string, change func(fstest.MapFS)) {
		changed := maps.Clone(files)
		change(changed)
		out[how+" "+name] = changed
	}
	dirs := map[string]bool{}
	with("added", "gone/x.yaml", func(m fstest.MapFS) { m["gone/x.yaml"] = &fstest.MapFile{Data: []byte(configMap)} })
	for name, file := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
		with("edited", name, func(m fstest.MapFS) {
			m[name] = &fstest.MapFile{Data: append(slices.Clone(file.Data), "# more\n"...), Mode: file.Mode}
		})
		with("gone", name, func(m fstest.MapFS) { delete(m, name) })
		with("directory", name, func(m fstest.MapFS) {
			delete(m, name)
			m[name+"/x"] = file
		})
		with("linked", name, func(m fstest.MapFS) {
			m[name] = &fstest.MapFile{Data: []byte(strings.Repeat("../", strings.Count(name, "/")) + "moved"), Mode: fs.ModeSymlink | 0o777}
			m["moved"] = file
		})
	}
	for dir := range dirs {
		move := func(m fstest.MapFS) {
			for name, file := range files {
				if below, ok := strings.CutPrefix(name, dir+"/"); ok {
					delete(m, name)
					m["other/place/"+below] = file
				}
			}
		}
		with("moved", dir, move)
		with("linked", dir, func(m fstest.MapFS) {
			move(m)
			m[dir] = &fstest.MapFile{Data: []byte(strings.Repeat("../", strings.Count(dir, "/")) + "other/place"), Mode: fs.ModeSymlink | 0o777}
		})
	}
	return out
}

// TestMemoryIsOfNoMatter checks changed trees of testdata by themselves, and with the cache of the original tree or
// beside it: the results must be equal.
func TestMemoryIsOfNoMatter(t *testing.T) {
	tally := &memoryTally{}
	for _, name := range testall.Sample(archives(t), 200) {
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, _ := treeOf(archive)
			tally.compare(t, files)
		})
	}
	t.Logf("%+v", *tally)
	if tally.dirs == 0 || tally.says == 0 || tally.inputs == 0 || tally.unchanged == 0 {
		t.Error("memory was never used")
	}
}

// TestMemoryBehindLinks does the same for a tree whose directories link to files outside of them.
func TestMemoryBehindLinks(t *testing.T) {
	(&memoryTally{}).compare(t, files(map[string]string{
		"app/kustomization.yaml":   "resources: [l/cm.yaml]\nconfigMapGenerator: [{name: a, files: [f.txt]}]\n",
		"app/l":                    "-> ../shared",
		"app/f.txt":                "-> ../data.txt",
		"shared/cm.yaml":           configMap,
		"data.txt":                 "a",
		"base/kustomization.yaml":  "resources: [cm.yaml]\n",
		"base/cm.yaml":             configMap,
		"over/kustomization.yaml":  "resources: [l]\n",
		"over/l":                   "-> ../base",
		"loose/kustomization.yaml": "resources: [l/x.yaml]\n",
		"loose/l":                  "-> ../gone",
		"plain/cm.yaml":            "-> ../base/cm.yaml",
		"plain/b.yaml":             configMap,
		"plain/gone.yaml":          "-> ../gone/x.yaml",
	}))
}

// memoryTally counts reused results, to show that they were used.
type memoryTally struct{ dirs, says, inputs, unchanged int }

// compare checks the changes of a tree.
func (y *memoryTally) compare(t *testing.T, files fstest.MapFS) {
	t.Helper()
	cache, err := render.OpenCache(t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	opts := render.Options{Cache: cache}
	before := sources.NewRenderer(treetest.Name(files), opts)
	base := insightOf(t, before)
	before.CacheTree(base.found.Roots)
	changes := variants(files)
	for _, how := range testall.Sample(slices.Sorted(maps.Keys(changes)), 10) {
		changed := changes[how]
		alone := sources.NewRenderer(changed, render.Options{})
		want := insightOf(t, alone)
		warm, beside := sources.NewRenderer(treetest.Name(changed), opts), before.Beside(treetest.Name(changed))
		if diff := want.diff(insightOf(t, warm)); diff != "" {
			t.Errorf("%s: -on its own +from memory\n%s", how, diff)
		}
		if diff := want.diff(insightOf(t, beside)); diff != "" {
			t.Errorf("%s: -on its own +beside\n%s", how, diff)
		}
		y.unchanged += compareUnchanged(t, how, base, beside, alone)
		reused := warm.Reused()
		y.dirs, y.says, y.inputs = y.dirs+reused.Dirs, y.says+reused.Uses, y.inputs+reused.Needs
	}
}

// compareUnchanged checks that Unchanged has the same result as reading all files.
func compareUnchanged(t *testing.T, how string, base insight, beside, alone *render.Renderer) (unchanged int) {
	t.Helper()
	for name, in := range base.inputs {
		got, want := beside.Unchanged(in), alone.Valid(in.Trace)
		if got != want {
			t.Errorf("%s: the inputs of %s are said to be unchanged: %v, want %v", how, name, got, want)
		}
		if got {
			unchanged++
		}
	}
	return unchanged
}

// archives returns the archives with the trees of the tests.
func archives(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"testdata/*.txtar", "testdata/*/*.txtar", "../scanner/testdata/*/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no archives like %s: %v", pattern, err)
		}
		names = append(names, found...)
	}
	return names
}

// TestMemoryIsOfItsKey checks that a cache that is damaged, of another program or of other limits is ignored.
func TestMemoryIsOfItsKey(t *testing.T) {
	files := fstest.MapFS{
		"app/kustomization.yaml": {Data: []byte("resources: [cm.yaml]\n")},
		"app/cm.yaml":            {Data: []byte(configMap)},
		"plain/cm.yaml":          {Data: []byte(configMap)},
		"plain/more.yaml":        {Data: []byte(configMap)},
	}
	dir := t.TempDir()
	open := func(opts render.Options) *render.Renderer {
		cache, err := render.OpenCache(dir, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		opts.Cache = cache
		return sources.NewRenderer(treetest.Name(files), opts)
	}
	used := func(r *render.Renderer) bool {
		insightOf(t, r)
		return r.Reused().Dirs > 0
	}
	first := open(render.Options{})
	first.CacheTree(insightOf(t, first).found.Roots)
	if !used(open(render.Options{})) {
		t.Error("nothing is remembered")
	}
	if used(open(render.Options{Limits: tree.Limits{Keys: 7}})) {
		t.Error("what other limits made is taken")
	}
	second := open(render.Options{})
	insightOf(t, second)
	for _, root := range []render.Root{{RootID: render.RootID{Kind: render.KindPlain, Dir: "plain"}, Files: []string{"plain/cm.yaml"}}, {RootID: render.RootID{Kind: render.KindKustomize, Dir: "plain"}}} {
		if in := second.Needs(root); in.IsReused() {
			t.Errorf("what is remembered of another root is taken for %+v", root)
		}
	}
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*.render"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %v: %v", entries, err)
	}
	data, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(entries[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if used(open(render.Options{})) {
		t.Error("what is damaged is taken")
	}
}
