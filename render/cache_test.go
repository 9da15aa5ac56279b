package render_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

var overlay = render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "overlay"}}

// cacheTest is a test with a cache in a directory of its own.
type cacheTest struct {
	*testing.T
	dir string
}

func (c cacheTest) open(limit int64) *render.Cache {
	c.Helper()
	cache, err := render.OpenCache(c.dir, limit)
	if err != nil {
		c.Fatal(err)
	}
	return cache
}

// render renders the overlay of a tree with the cache.
func (c cacheTest) render(tree fs.FS, opts render.Options) *render.Result {
	c.Helper()
	if opts.Cache == nil {
		opts.Cache = c.open(1 << 30)
	}
	result := sources.NewRenderer(tree, opts).Render(context.Background(), overlay)
	if err := opts.Cache.Failure(); err != nil {
		c.Fatal(err)
	}
	return result
}

// entries returns the files of the cache.
func (c cacheTest) entries() []string {
	c.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "*", "*"))
	if err != nil {
		c.Fatal(err)
	}
	return names
}

// poison replaces the object of the only entry, so that a test sees whether the entry was used.
func (c cacheTest) poison() {
	c.Helper()
	entries := c.entries()
	if len(entries) != 1 {
		c.Fatalf("entries: %q, want one", entries)
	}
	c.write(entries[0], `{"kind":"Poison"}`)
}

// write writes an entry with one object.
func (c cacheTest) write(name, object string) {
	c.Helper()
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(struct{ Objects [][]byte }{[][]byte{[]byte(object)}}); err != nil {
		c.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		c.Fatal(err)
	}
	sum := sha256.Sum256(content.Bytes())
	if err := os.WriteFile(name, append(sum[:], content.Bytes()...), 0o600); err != nil {
		c.Fatal(err)
	}
}

func kindsOf(r *render.Result) (kinds []string) {
	for _, o := range r.Objects {
		kind, _ := render.KindAndName(o.Content())
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestCacheReturnsWhatWasRendered(t *testing.T) {
	lacking := traceTree()
	lacking["overlay/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [../link, 'https://example.com/base']\nnamePrefix: x-\n")}
	for name, tree := range map[string]fstest.MapFS{"whole": traceTree(), "lacking a remote base": lacking} {
		t.Run(name, func(t *testing.T) {
			c := cacheTest{t, t.TempDir()}
			without := sources.NewRenderer(tree, render.Options{}).Render(context.Background(), overlay)
			if lacks := name != "whole"; without.Problem != nil || (without.Lacks != nil) != lacks {
				t.Fatalf("problem %v, lacks %v", without.Problem, without.Lacks)
			}
			for range 2 {
				got := c.render(tree, render.Options{})
				got.Trace = without.Trace // a trace from the cache also has what may be read
				if diff := cmp.Diff(without, got); diff != "" {
					t.Errorf("-without the cache +with it:\n%s", diff)
				}
			}
			c.poison()
			if diff := cmp.Diff([]string{"Poison"}, kindsOf(c.render(tree, render.Options{}))); diff != "" {
				t.Errorf("the entry is not used: %s", diff)
			}
		})
	}
}

// TestCacheKnowsWhatDecides checks that everything which decides the result of a root is part of the key.
func TestCacheKnowsWhatDecides(t *testing.T) {
	for name, change := range map[string]func(tree fstest.MapFS, opts *render.Options, root *render.Root){
		"edited": func(tree fstest.MapFS, _ *render.Options, _ *render.Root) {
			tree["base/cm.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")}
		},
		"data of a generator": func(tree fstest.MapFS, _ *render.Options, _ *render.Root) {
			tree["overlay/data.txt"] = &fstest.MapFile{Data: []byte("y")}
		},
		"removed": func(tree fstest.MapFS, _ *render.Options, _ *render.Root) { delete(tree, "overlay/data.txt") },
		"second file": func(tree fstest.MapFS, _ *render.Options, _ *render.Root) {
			tree["base/kustomization.yml"] = &fstest.MapFile{}
		},
		"link elsewhere": func(tree fstest.MapFS, _ *render.Options, _ *render.Root) {
			tree["link"] = &fstest.MapFile{Data: []byte("other"), Mode: fs.ModeSymlink | 0o777}
		},
		"load restrictor": func(_ fstest.MapFS, opts *render.Options, _ *render.Root) {
			opts.LoadRestrictor = render.LoadRestrictionsRootOnly
		},
		"limit":        func(_ fstest.MapFS, opts *render.Options, _ *render.Root) { opts.Limits.Keys = 9 },
		"another root": func(_ fstest.MapFS, _ *render.Options, root *render.Root) { root.Dir = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			c := cacheTest{t, t.TempDir()}
			c.render(traceTree(), render.Options{})
			c.poison()
			tree, opts, root := traceTree(), render.Options{Cache: c.open(1 << 30)}, overlay
			change(tree, &opts, &root)
			want := opts
			want.Cache = nil
			if diff := cmp.Diff(kindsOf(sources.NewRenderer(tree, want).Render(context.Background(), root)),
				kindsOf(sources.NewRenderer(tree, opts).Render(context.Background(), root))); diff != "" {
				t.Errorf("-without the cache +with it:\n%s", diff)
			}
		})
	}
}

func TestCacheSurvivesDamage(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"short":     func(data []byte) []byte { return data[:20] },
		"cut":       func(data []byte) []byte { return data[:len(data)-1] },
		"a bit":     func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
		"the sum":   func(data []byte) []byte { data[0] ^= 1; return data },
		"something": func([]byte) []byte { return []byte("something else that is longer than a checksum is") },
	} {
		t.Run(name, func(t *testing.T) {
			c := cacheTest{t, t.TempDir()}
			want := c.render(traceTree(), render.Options{}).Objects
			entry := c.entries()[0]
			data, err := os.ReadFile(entry)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(entry, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time it is repaired
				if diff := cmp.Diff(want, c.render(traceTree(), render.Options{}).Objects); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
			c.poison()
			if got := kindsOf(c.render(traceTree(), render.Options{})); got[0] != "Poison" {
				t.Errorf("the entry was not written anew: %q", got)
			}
		})
	}
}

// TestCacheKeepsOnlyWhatRendered checks that failures and refusals are not stored.
func TestCacheKeepsOnlyWhatRendered(t *testing.T) {
	c := cacheTest{t, t.TempDir()}
	broken := traceTree()
	delete(broken, "base/cm.yaml")
	if r := c.render(broken, render.Options{}); r.Problem == nil {
		t.Error("a missing file is no problem")
	}
	remote := traceTree()
	remote["overlay/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [https://example.com/base]\n")}
	if r := c.render(remote, render.Options{}); r.Problem == nil || r.Problem.Kind != render.ProblemRefused {
		t.Errorf("problem: %v, want a refusal", r.Problem)
	}
	if got := c.entries(); len(got) > 0 {
		t.Errorf("entries: %q", got)
	}
}

// TestCacheSharesFailures checks that the processes of one scan share a failure, and that other scans do not.
func TestCacheSharesFailures(t *testing.T) {
	c := cacheTest{t, t.TempDir()}
	broken := traceTree()
	broken["overlay/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [../link]\npatches: [{path: p.yaml}]\n")}
	broken["overlay/p.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: missing}\n")}
	render := func(scan string) *render.Result {
		cache := c.open(1 << 30)
		cache.ShareFailures(scan)
		return c.render(broken, render.Options{Cache: cache})
	}
	want := render("").Problem
	if want == nil {
		t.Fatal("a patch without its target is no problem")
	}
	for range 2 {
		if diff := cmp.Diff(want, render("a").Problem); diff != "" {
			t.Errorf("-without the cache +with it:\n%s", diff)
		}
	}
	c.poison()
	if got := kindsOf(render("a")); len(got) != 1 || got[0] != "Poison" {
		t.Errorf("the entry is not used: %q", got)
	}
	for _, scan := range []string{"b", ""} {
		if diff := cmp.Diff(want, render(scan).Problem); diff != "" {
			t.Errorf("another scan, %q, uses the entry:\n%s", scan, diff)
		}
	}
}

func TestCacheIsForItsOwner(t *testing.T) {
	c := cacheTest{t, filepath.Join(t.TempDir(), "new", "cache")}
	c.render(traceTree(), render.Options{})
	for name, want := range map[string]fs.FileMode{c.dir: 0o700 | fs.ModeDir, filepath.Dir(c.entries()[0]): 0o700 | fs.ModeDir, c.entries()[0]: 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	cache, err := render.OpenCache(filepath.Join(dir, "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "cache")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cache"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	result := sources.NewRenderer(traceTree(), render.Options{Cache: cache}).Render(context.Background(), overlay)
	if result.Problem != nil || len(result.Objects) != 2 {
		t.Errorf("result: %v, %d objects", result.Problem, len(result.Objects))
	}
	if cache.Failure() == nil {
		t.Error("nothing is said")
	}
	if _, err := render.OpenCache(filepath.Join(dir, "cache"), 1); err == nil {
		t.Error("a file is opened as a cache")
	}
}

func TestCacheIsTrimmed(t *testing.T) {
	c := cacheTest{t, t.TempDir()}
	opts := render.Options{Cache: c.open(10_000)}
	c.render(traceTree(), opts)
	names, now := c.entries(), time.Now()
	for i := 1; i < 20; i++ {
		names = append(names, filepath.Join(c.dir, fmt.Sprintf("%02d", i), fmt.Sprintf("%02d000000.render", i)))
		c.write(names[i], strings.Repeat(" ", 1_000))
	}
	for i, name := range names {
		used := now.Add(time.Duration(i-30) * time.Hour)
		if err := os.Chtimes(name, used, used); err != nil {
			t.Fatal(err)
		}
	}
	c.render(traceTree(), opts) // makes its entry the most recently used
	left := filepath.Join(filepath.Dir(names[0]), "new-1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, now.Add(-2*time.Hour), now.Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := opts.Cache.Trim(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	total, there := int64(0), map[string]bool{}
	for _, name := range c.entries() {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total, there[name] = total+info.Size(), true
	}
	if total > 9_000 || total < 7_000 {
		t.Errorf("size %d", total)
	}
	for i, want := range map[int]bool{0: true, 1: false, 11: false, 19: true} {
		if got := there[names[i]]; got != want {
			t.Errorf("entry %d is there: %v, want %v", i, got, want)
		}
	}
}

// TestCacheIsShared checks that several processes can share a directory while one of them trims it.
func TestCacheIsShared(t *testing.T) {
	c := cacheTest{t, t.TempDir()}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 20 {
				tree := traceTree()
				tree["overlay/data.txt"] = &fstest.MapFile{Data: fmt.Append(nil, i%5)}
				cache := c.open(1_500)
				result := c.render(tree, render.Options{Cache: cache})
				if result.Problem != nil || len(result.Objects) != 2 {
					t.Errorf("result: %v, %d objects", result.Problem, len(result.Objects))
				}
				if err := cache.Trim(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// TestCacheHasDecodedFiles checks that a large manifest file is decoded once, and that a small or invalid one is not
// stored.
func TestCacheHasDecodedFiles(t *testing.T) {
	c := cacheTest{t, t.TempDir()}
	text := func(name, filling string) *fstest.MapFile {
		one := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: " + filling + "}\n"
		return &fstest.MapFile{Data: []byte(one + "---\n" + one)}
	}
	large := strings.Repeat("x", 10_000)
	tree := fstest.MapFS{"large.yaml": text("large", large), "small.yaml": text("small", "x"), "broken.yaml": text("broken", large+"}")}
	plain := func(files ...string) *render.Result {
		t.Helper()
		cache := c.open(1 << 30)
		root := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: "."}, Files: files}
		result := sources.NewRenderer(tree, render.Options{Cache: cache}).Render(t.Context(), root)
		if err := cache.Failure(); err != nil {
			t.Fatal(err)
		}
		return result
	}
	names := func() (names []string) {
		t.Helper()
		for _, o := range plain("large.yaml", "small.yaml").Objects {
			_, name := o.KindAndName()
			names = append(names, name)
		}
		return names
	}
	first := names()
	if plain("broken.yaml").Problem == nil {
		t.Error("the broken file has no problem")
	}
	entries := c.entries()
	if len(first) != 4 || len(entries) != 1 {
		t.Fatalf("objects %v, entries %v", first, entries)
	}
	data, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.ReplaceAll(data[sha256.Size:], []byte(`"large"`), []byte(`"other"`))
	sum := sha256.Sum256(content)
	if err := os.WriteFile(entries[0], append(sum[:], content...), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other", "other", "small", "small"}, names()); diff != "" {
		t.Errorf("with another entry (-want +got):\n%s", diff)
	}
	tree["large.yaml"] = text("large", large+"x")
	if diff := cmp.Diff(first, names()); diff != "" {
		t.Errorf("of another file (-want +got):\n%s", diff)
	}
}
