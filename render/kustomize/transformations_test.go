package kustomize

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// patched returns a kustomization with patches and the given lines.
func patched(lines string) fstest.MapFS {
	patches := "patches:\n"
	for i := range 5 {
		patches += fmt.Sprintf("- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k%d: v}}'\n", i)
	}
	return fstest.MapFS{
		"app/kustomization.yaml":  {Data: []byte("resources: [../base]\n" + patches + lines)},
		"base/kustomization.yaml": {Data: []byte("resources: [c.yaml]\n" + patches)},
		"base/c.yaml":             {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n")},
	}
}

func sourceOf(files fstest.MapFS) (*Source, render.Root) {
	root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}}
	return New(tree.New(files, tree.Limits{}), render.Options{}).(*Source), root
}

// TestTransformationsAreNotNoted checks that builds for finding lines do not make kustomize write the list of
// all previous patches for each patch.
func TestTransformationsAreNotNoted(t *testing.T) {
	r, root := sourceOf(patched(""))
	result := r.Render(t.Context(), root)
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	marshal, count, longest := kyaml.Marshal, 0, 0
	defer func() { kyaml.Marshal = marshal }()
	kyaml.Marshal = func(in any) ([]byte, error) {
		out, err := marshal(in)
		if _, ok := in.(*resource.Transformations); ok {
			count, longest = count+1, max(longest, len(out))
		}
		return out, err
	}
	origins, err := r.Origins(t.Context(), result)
	if err != nil || len(origins) != 1 {
		t.Fatalf("%d origins, %v", len(origins), err)
	}
	if count < 10 || longest > len("[]\n") {
		t.Errorf("kustomize notes %d times what transformed a resource, in up to %d bytes", count, longest)
	}
}

// TestTransformationsAreNoted checks that a kustomization with transformerAnnotations gets them, whatever is
// built at the same time.
func TestTransformationsAreNoted(t *testing.T) {
	files := patched("buildMetadata: [transformerAnnotations]\n")
	fsys := filesys.MakeFsInMemory()
	for name, f := range files {
		if err := fsys.WriteFile("/"+name, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	r, root := sourceOf(files)
	done := note(r.walk(root.Dir, tree.NewTrace()))
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, "/app")
	done()
	if err != nil {
		t.Fatal(err)
	}
	want := built.Resources()[0].GetAnnotations()["alpha.config.kubernetes.io/transformations"]
	if n := strings.Count(want, "PatchTransformer"); n != 10 {
		t.Fatalf("kustomize notes %d patches:\n%s", n, want)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			r, root := sourceOf(patched(""))
			for range 5 {
				if _, err := r.Origins(t.Context(), r.Render(t.Context(), root)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 5 {
		r, _ = sourceOf(files) // a source caches its builds
		result := r.Render(t.Context(), root)
		if result.Problem != nil {
			t.Fatal(result.Problem)
		}
		metadata, _ := result.Objects[0].Content()["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if got := annotations["alpha.config.kubernetes.io/transformations"]; got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	wait.Wait()
}

// TestOperatedOut checks which elements of a list JSON6902 operations removed, each with the index of the moment.
func TestOperatedOut(t *testing.T) {
	for operations, want := range map[string]string{
		"- {op: remove, path: /x/0}\n- {op: remove, path: /x/0}\n":                                                              "b at 4, a at 3",
		"- {op: add, path: /x/0, value: n}\n- {op: remove, path: /x/2}\n":                                                       "b at 4",
		"- {op: add, path: /x/-, value: n}\n- {op: remove, path: /x/-1}\n":                                                      "n at 4",
		"- {op: replace, path: /x/1, value: n}\n- {op: remove, path: /x/1}\n":                                                   "n at 4",
		"- {op: replace, path: /x, value: [n, m]}\n- {op: remove, path: /x/1}\n":                                                "m at 4",
		"- {op: copy, from: /x/2, path: /x/0}\n- {op: remove, path: /x/0}\n":                                                    "c at 4",
		"- {op: move, from: /x/0, path: /x/2}\n":                                                                                "",
		"- {op: move, from: /x/0, path: /x/2}\n- {op: remove, path: /x/0}\n":                                                    "b at 4",
		"- {op: move, from: /x/0, path: /y}\n":                                                                                  "a at 3",
		"- {op: remove, path: /x}\n- {op: add, path: /x, value: [n]}\n- {op: remove, path: /x/0}\n- {op: remove, path: /z/0}\n": "n at 5",
	} {
		r, root := sourceOf(fstest.MapFS{
			"app/kustomization.yaml": {Data: []byte("resources: [c.yaml]\npatches: [{path: p.yaml, target: {kind: C}}]\n")},
			"app/p.yaml":             {Data: []byte("# operations\n\n" + operations)},
			"app/c.yaml":             {Data: []byte("{apiVersion: e.com/v1, kind: C, metadata: {name: c}, x: [a, b, c], z: [a]}\n")},
		})
		result := r.Render(t.Context(), root)
		if result.Problem != nil {
			t.Fatalf("%s: %v", operations, result.Problem)
		}
		origins, err := r.Origins(t.Context(), result)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, removal := range origins[0].Removals("x") {
			got = append(got, fmt.Sprintf("%v at %d", removal.Element, removal.Position.Line))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%sremoved %q, want %q", operations, text, want)
		}
	}
}
