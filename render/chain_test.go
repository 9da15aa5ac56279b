package render_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
)

// TestChains checks the histories of fields in the trees of testdata/chains. Lines of an archive's comment are
// `chain ROOT KIND/NAME FIELD [front|back]` and `passed ROOT KIND/NAME`; the file `want` has the results.
func TestChains(t *testing.T) {
	archives, err := filepath.Glob("testdata/chains/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives (%v)", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want := treeOf(archive)
			got := describeChains(t, fsys, string(archive.Comment))
			if *update {
				setWant(archive, got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got (rewrite with -update):\n%s", diff)
			}
		})
	}
}

func describeChains(t *testing.T, fsys fs.FS, questions string) string {
	t.Helper()
	var out strings.Builder
	r := sources.NewRenderer(fsys, render.Options{})
	sources := map[string]map[string]*origin.Origin{}
	for line := range strings.Lines(questions) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "chain" && words[0] != "passed" {
			continue
		}
		root, name := words[1], words[2]
		if sources[root] == nil {
			sources[root] = sourcesByName(t, r, root)
		}
		source := sources[root][name]
		if source == nil {
			t.Fatalf("%s does not render to %s", root, name)
		}
		out.WriteString(strings.TrimSpace(line) + "\n")
		if words[0] == "passed" {
			describePassed(&out, source)
			continue
		}
		describeChain(t, &out, source, words[3], partOf(words[4:]))
	}
	return out.String()
}

// sourcesByName returns the origins of a root's objects by `Kind/name`, where `-*` stands for the hash of generated
// ones.
func sourcesByName(t *testing.T, r *render.Renderer, dir string) map[string]*origin.Origin {
	t.Helper()
	root, ok := r.At(dir)
	if !ok {
		root = plainRoot(t, r, dir)
	}
	result := r.Render(context.Background(), root)
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	sources, err := r.Origins(context.Background(), result)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*origin.Origin{}
	for i, o := range result.Objects {
		kind, name := o.KindAndName()
		out[kind+"/"+origin.ContentHash.ReplaceAllString(name, "-*")] = sources[i]
	}
	return out
}

func plainRoot(t *testing.T, r *render.Renderer, dir string) render.Root {
	t.Helper()
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range found.Roots {
		if root.Dir == dir {
			return root
		}
	}
	t.Fatalf("%s is no root", dir)
	return render.Root{}
}

func describePassed(out *strings.Builder, source *origin.Origin) {
	entry, through := source.Kustomizations()
	fmt.Fprintf(out, "  listed at %s\n", entry)
	for _, p := range through {
		fmt.Fprintf(out, "  %s%s used at %s\n", p.File, mark(p.Component, "component"), p.Entry)
	}
}

// describeChain writes the steps, and fails if the last one is not the place.
func describeChain(t *testing.T, out *strings.Builder, source *origin.Origin, path string, part origin.Part) {
	t.Helper()
	steps := source.Chain(path, part)
	for _, s := range steps {
		fmt.Fprintf(out, "  %s %s of %s%s%s\n", s.Position, s.Kind, s.Kustomization,
			mark(s.Component, "component"), mark(s.Absent, "does not have it"))
	}
	place := source.Place(path, part)
	if len(steps) == 0 || steps[len(steps)-1].Position != place.Position {
		t.Errorf("the chain of %s ends elsewhere than at %s", path, place.Position)
	}
}

func mark(set bool, text string) string {
	if set {
		return " (" + text + ")"
	}
	return ""
}
