package render_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// TestGolden discovers, renders and locates the trees in testdata. In an archive, `-- a -> b --` is a symbolic link,
// lines `find ROOT KIND/NAME PATH` of its comment request the place of a field, and the file `want` has the results.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata (%v)", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want := treeOf(archive)
			got := describe(t, fsys, string(archive.Comment))
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

func treeOf(archive *txtar.Archive) (fsys fstest.MapFS, want string) {
	fsys = fstest.MapFS{}
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		if from, to, ok := strings.Cut(f.Name, " -> "); ok {
			fsys[from] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
			continue
		}
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return fsys, want
}

func setWant(archive *txtar.Archive, got string) {
	for i := range archive.Files {
		if archive.Files[i].Name == "want" {
			archive.Files[i].Data = []byte(got)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
}

// describe returns all results about a tree.
func describe(t *testing.T, fsys fs.FS, questions string) string {
	t.Helper()
	var out strings.Builder
	d, err := sources.NewRenderer(fsys, render.Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, diagnostic := range d.Diagnostics {
		fmt.Fprintf(&out, "%s: %s: %s\n", diagnostic.Severity, diagnostic.Position, diagnostic.Message)
	}
	r := sources.NewRenderer(fsys, render.Options{})
	for _, root := range d.Roots {
		fmt.Fprintf(&out, "%s root %s", root.Kind, root.Dir)
		for _, f := range root.Files {
			fmt.Fprintf(&out, " %s", f)
		}
		out.WriteString("\n")
		describeRoot(t, &out, r, root, questions)
	}
	return out.String()
}

func describeRoot(t *testing.T, out *strings.Builder, r *render.Renderer, root render.Root, questions string) {
	t.Helper()
	result := r.Render(context.Background(), root)
	if p := result.Problem; p != nil {
		fmt.Fprintf(out, "  %s: %s\n", p.Kind, p)
		return
	}
	sources, err := r.Origins(context.Background(), result)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range result.Objects {
		kind, name := render.KindAndName(o.Content())
		fmt.Fprintf(out, "  %s/%s from %s\n", kind, name, sources[i].Document())
		for line := range strings.Lines(questions) {
			words := strings.Fields(line)
			if len(words) >= 4 && words[0] == "find" && words[1] == root.Dir && words[2] == kind+"/"+name {
				what := strings.Join(words[3:], " ")
				place := sources[i].Place(words[3], partOf(words[4:]))
				fmt.Fprintf(out, "    %s at %s %s\n", what, span(place.Position), told(place))
			}
			if len(words) == 4 && words[0] == "removals" && words[1] == root.Dir && words[2] == kind+"/"+name {
				for _, r := range sources[i].Removals(words[3]) {
					fmt.Fprintf(out, "    %s lost %v at %s\n", words[3], r.Element, r.Position)
				}
			}
		}
	}
}

// told returns what is known about a place, as text.
func told(p origin.Place) string {
	switch {
	case p.Found():
		return "found"
	case p.Why != "":
		return "not known: " + p.Why
	}
	return "absent"
}

// partOf parses the last word of a `find` line.
func partOf(words []string) origin.Part {
	switch strings.Join(words, " ") {
	case "front":
		return origin.Front
	case "back":
		return origin.Back
	}
	return origin.Whole
}

func span(p tree.Position) string {
	if p.EndLine == 0 {
		return p.String()
	}
	return fmt.Sprintf("%s-%d:%d", p, p.EndLine, p.EndColumn)
}
