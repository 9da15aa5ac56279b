package render_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/render/sources"
)

// TestMain makes the test binary its own child process.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "render-child" {
		if len(os.Environ()) > 1 || os.Getenv("PATH") != "" {
			fmt.Fprintln(os.Stderr, "the child has an environment:", os.Environ())
			os.Exit(1)
		}
		if err := sources.ChildMain(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testall.Heap()
	code := m.Run()
	if clones.dir != "" {
		_ = os.RemoveAll(clones.dir) // a temporary directory
	}
	os.Exit(code)
}

func isolated(t *testing.T) render.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return render.Options{Isolate: isolate.Program(exe, "render-child")}
}

// customMerge is a schema in which a list of a custom kind is merged by name.
const customMerge = `{"definitions": {"v1.Thing": {
  "properties": {"list": {"items": {"type": "object"}, "type": "array",
    "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}},
  "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Thing", "version": "v1"}]}}}`

func customTree(schema string) fstest.MapFS {
	return fstest.MapFS{
		"k/kustomization.yaml":     {Data: []byte("resources: [thing.yaml]\nopenapi:\n  path: schema.json\npatches:\n- path: patch.yaml\n")},
		"k/schema.json":            {Data: []byte(schema)},
		"k/thing.yaml":             {Data: []byte("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [{name: one, n: 1}, {name: two, big: 1e3}]\n")},
		"k/patch.yaml":             {Data: []byte("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [{name: one, n: 2}]\n")},
		"plain/kustomization.yaml": {Data: []byte("resources: [../k/thing.yaml]\npatches:\n- path: ../k/patch.yaml\n")},
	}
}

func TestIsolatedSchema(t *testing.T) {
	r := sources.NewRenderer(customTree(customMerge), isolated(t))
	plain := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "plain"}}
	before := r.Render(context.Background(), plain)
	custom := r.Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}})
	if custom.Problem != nil {
		t.Fatal(custom.Problem)
	}
	list := custom.Objects[0].Content()["list"].([]any)
	want := []any{map[string]any{"name": "one", "n": int64(2)}, map[string]any{"name": "two", "big": int64(1000)}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("the schema did not merge the list: %s", diff)
	}
	if len(custom.Trace.Reads) != 4 || len(custom.Trace.Misses) != 2 {
		t.Errorf("trace %+v", custom.Trace)
	}
	after := r.Render(context.Background(), plain)
	if diff := cmp.Diff(before.Objects, after.Objects); diff != "" {
		t.Errorf("the schema leaked into this process: %s", diff)
	}
}

// TestIsolatedFailures checks that a schema which crashes kustomize, or makes it loop, only affects the child process.
func TestIsolatedFailures(t *testing.T) {
	for name, schema := range map[string]string{"not JSON": "{", "wrong types": `{"definitions": [1]}`} {
		t.Run(name, func(t *testing.T) {
			result := sources.NewRenderer(customTree(schema), isolated(t)).Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}})
			if result.Problem == nil || result.Problem.Kind != render.ProblemFailed {
				t.Errorf("problem %v", result.Problem)
			}
		})
	}
	t.Run("endless", func(t *testing.T) {
		schema := strings.Replace(customMerge, `"list": {`, `"list": {"$ref": "#/definitions/loop"}, "other": {`, 1)
		schema = strings.Replace(schema, `"v1.Thing": {`, `"loop": {"$ref": "#/definitions/loop"}, "v1.Thing": {`, 1)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		start := time.Now()
		result := sources.NewRenderer(customTree(schema), isolated(t)).Render(ctx, render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}})
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
		if result.Problem == nil {
			t.Errorf("rendered %v", result.Objects)
		}
	})
	t.Run("no program", func(t *testing.T) {
		opts := render.Options{Isolate: isolate.Program("./no-such-program")}
		result := sources.NewRenderer(customTree(customMerge), opts).Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}})
		if result.Problem == nil || !strings.Contains(result.Problem.Message, "no-such-program") {
			t.Errorf("problem %v", result.Problem)
		}
	})
}

// remoteThing contains one artifact, a file.
type remoteThing struct{ data []byte }

func (c remoteThing) Tree(a artifact.Artifact) (fs.FS, artifact.Pin, error) {
	return nil, artifact.Pin{}, &artifact.MissingError{Artifact: a, Why: "it is a file"}
}
func (c remoteThing) Bytes(artifact.Artifact) ([]byte, artifact.Pin, error) {
	return c.data, artifact.Pin{}, nil
}
func (c remoteThing) Artifacts() []artifact.Artifact {
	return []artifact.Artifact{{Kind: artifact.File, URL: "https://example.com/thing.yaml"}}
}

// TestIsolatedArtifact checks that the child process can read fetched artifacts.
func TestIsolatedArtifact(t *testing.T) {
	files := customTree(customMerge)
	thing := files["k/thing.yaml"].Data
	delete(files, "k/thing.yaml")
	kustomization := strings.Replace(string(files["k/kustomization.yaml"].Data), "thing.yaml", "https://example.com/thing.yaml", 1)
	files["k/kustomization.yaml"] = &fstest.MapFile{Data: []byte(kustomization)}
	r := sources.NewRenderer(overlaid.New(files, remoteThing{thing}), isolated(t))
	result := r.Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}})
	if result.Problem != nil || len(result.Objects) != 1 || len(result.Objects[0].Content()["list"].([]any)) != 2 {
		t.Errorf("renders to %v, problem %v", result.Objects, result.Problem)
	}
}
