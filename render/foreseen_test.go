package render_test

import (
	"context"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

// files returns a tree of names and texts; a text that begins with "-> " is a link.
func files(texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			tree[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
			continue
		}
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// TestInputsForesee makes changes that only affect kustomize's own way of reading: the needs of a root must then
// differ, or the root must be refused.
func TestInputsForesee(t *testing.T) {
	patch := configMap + "data: {a: good}\n"
	for name, test := range map[string]struct {
		base   map[string]string
		change map[string]string
	}{
		"a patch whose name looks like YAML": {
			map[string]string{"app/kustomization.yaml": "resources: [cm.yaml]\npatchesStrategicMerge: ['p{1.yaml']\n", "app/p{1.yaml": patch},
			map[string]string{"app/p{1.yaml": strings.ReplaceAll(patch, "good", "bad")},
		},
		"a transformer whose name looks like YAML": {
			map[string]string{
				"app/kustomization.yaml": "resources: [cm.yaml]\ntransformers: ['t{1.yaml']\n",
				"app/t{1.yaml":           "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: good-\nfieldSpecs: [{path: metadata/name}]\n",
			},
			map[string]string{"app/t{1.yaml": "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: bad-\nfieldSpecs: [{path: metadata/name}]\n"},
		},
		"a plugin's path with an equals sign": {
			map[string]string{
				"app/kustomization.yaml": "resources: [cm.yaml]\ntransformers: [t.yaml]\n",
				"app/t.yaml":             "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: a=b.yaml\n",
				"app/a=b.yaml":           patch,
			},
			map[string]string{"app/a=b.yaml": strings.ReplaceAll(patch, "good", "bad")},
		},
		"a directory that was a link": {
			map[string]string{
				"app/kustomization.yaml": "resources: [../lib]\n", "lib": "-> deep/other",
				"deep/other/kustomization.yaml": "resources: [../res/cm.yaml]\n",
				"deep/res/cm.yaml":              configMap + "data: {a: good}\n", "res/cm.yaml": configMap + "data: {a: bad}\n",
			},
			map[string]string{"lib": "", "lib/kustomization.yaml": "resources: [../res/cm.yaml]\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}}
			test.base["app/cm.yaml"] = configMap
			changed := maps.Clone(test.base)
			for name, text := range test.change {
				if changed[name] = text; text == "" {
					delete(changed, name)
				}
			}
			base, head := sources.NewRenderer(files(test.base), render.Options{}), sources.NewRenderer(files(changed), render.Options{})
			in := head.Needs(root)
			if in.Problem == nil && base.Valid(in.Trace) {
				before, after := base.Render(context.Background(), root), head.Render(context.Background(), root)
				t.Errorf("the inputs are said to be the same\nbefore: %v %s\nafter: %v %s", before.Problem, allText(before), after.Problem, allText(after))
			}
			if result := head.Render(context.Background(), root); result.Problem == nil && !in.Cover(result) {
				t.Errorf("rendering reads what was not foreseen: %v, not in %v", result.Trace, in.Trace)
			}
		})
	}
}

// TestInputsOfWhatIsNotRead checks that a kustomization that can no longer be read has other needs than before.
func TestInputsOfWhatIsNotRead(t *testing.T) {
	const small = 100
	base := map[string]string{"app/kustomization.yaml": "resources: [cm.yaml]\n", "app/cm.yaml": configMap}
	for name, change := range map[string]func(map[string]string){
		"too large": func(m map[string]string) { m["app/kustomization.yaml"] += strings.Repeat("# more\n", small) },
		"a directory": func(m map[string]string) {
			delete(m, "app/kustomization.yaml")
			m["app/kustomization.yaml/x"] = ""
		},
	} {
		changed := maps.Clone(base)
		change(changed)
		opts := render.Options{Limits: tree.Limits{FileBytes: small}}
		in := sources.NewRenderer(files(changed), opts).Needs(render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}})
		if sources.NewRenderer(files(base), opts).Valid(in.Trace) {
			t.Errorf("%s: the inputs are said to be the same: %v", name, in.Trace)
		}
	}
}

func allText(r *render.Result) (text string) {
	for _, o := range r.Objects {
		text += string(o.JSON)
	}
	return text
}

// TestInputsOfInternalAnnotations checks that an annotation of kustomize adds a hash to the name of any object.
func TestInputsOfInternalAnnotations(t *testing.T) {
	tree := files(map[string]string{
		"app/kustomization.yaml": "resources: [ns.yaml]\n",
		"app/ns.yaml":            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: foo\n  annotations: {internal.config.kubernetes.io/needsHashSuffix: enabled}\n",
	})
	r := sources.NewRenderer(tree, render.Options{})
	root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}}
	if _, name := render.KindAndName(r.Render(context.Background(), root).Objects[0].Content()); !r.MayHold(r.Needs(root), render.Mention{Kind: "Namespace", Name: name}) {
		t.Errorf("the root is said not to hold the Namespace %s", name)
	}
}

// TestFileThatChangesWhileItIsRead checks that a file which is edited while it is read does not get its old identity: a
// small file keeps the content that was read first, and a large one, which is read again, is an error.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for name, padding := range map[string]string{"small": "", "large": strings.Repeat("# padding\n", 30_000)} {
		file := padding + configMap
		tree := files(map[string]string{"app/kustomization.yaml": "resources: [cm.yaml]\n", "app/cm.yaml": file})
		cache, err := render.OpenCache(t.TempDir(), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}}
		r := sources.NewRenderer(tree, render.Options{Cache: cache})
		r.Needs(root)
		tree["app/cm.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(file, "name: a", "name: b"))}
		result := r.Render(context.Background(), root)
		if small := padding == ""; small != (result.Problem == nil) || small && !strings.Contains(allText(result), `"name":"a"`) {
			t.Errorf("%s file: rendered: %s, %v", name, allText(result), result.Problem)
		}
		again := sources.NewRenderer(tree, render.Options{Cache: cache}).Render(context.Background(), root)
		if !strings.Contains(allText(again), `"name":"b"`) {
			t.Errorf("%s file: rendered after the change: %s, %v", name, allText(again), again.Problem)
		}
	}
}
