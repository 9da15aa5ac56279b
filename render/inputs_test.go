package render_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

// objectsLookedFor is how many objects of real repositories there are for each one that is searched in the needs.
const objectsLookedFor = 5

// checkInputs renders roots and compares them with their needs. It returns how many objects were searched.
func checkInputs(t *testing.T, fsys fs.FS, roots []render.Root, oneIn int) (looked int) {
	t.Helper()
	renderer := sources.NewRenderer(fsys, render.Options{})
	for _, root := range roots {
		in := sources.NewRenderer(fsys, render.Options{}).Needs(root)
		looked += checkNeeds(t, renderer, in, renderer.Render(context.Background(), root), oneIn)
	}
	return looked
}

// checkNeeds checks that the needs of a kustomization or directory of manifests cover what rendering has read and
// missed, and may hold the rendered objects. It searches every oneIn-th object, and returns how many.
func checkNeeds(t *testing.T, renderer *render.Renderer, in *render.Needs, result *render.Result, oneIn int) (looked int) {
	t.Helper()
	if !in.Trace.Covers(result.Trace) {
		t.Errorf("%s: rendering reads %v, misses %v; its inputs are %v, %v",
			result.Root.Dir, result.Trace.Reads, result.Trace.Misses, in.Trace.Reads, in.Trace.Misses)
	}
	if in.Problem != nil && result.Problem == nil {
		t.Errorf("%s renders, and its inputs say %v", result.Root.Dir, in.Problem)
	}
	for i := 0; i < len(result.Objects); i += oneIn {
		looked++
		if m := mentionOf(result.Objects[i]); !renderer.MayHold(in, m) {
			t.Errorf("%s renders to %+v, which its inputs do not hold", result.Root.Dir, m)
		}
	}
	return looked
}

// mentionOf returns the mention that matches an object.
func mentionOf(o *render.Object) render.Mention {
	u := unstructured.Unstructured{Object: o.Content()}
	group, _, ok := strings.Cut(u.GetAPIVersion(), "/")
	if !ok {
		group = ""
	}
	return render.Mention{Group: group, Kind: u.GetKind(), Name: u.GetName(), Word: u.GetNamespace()}
}

// everyRoot returns the roots of a tree, and the kustomizations they use.
func everyRoot(t *testing.T, fsys fs.FS) []render.Root {
	t.Helper()
	roots, used := rootsAndUsed(t, fsys)
	return append(roots, used...)
}

// rootsAndUsed returns the roots of a tree, and the kustomizations they use.
func rootsAndUsed(t *testing.T, fsys fs.FS) (roots, used []render.Root) {
	t.Helper()
	d, err := sources.NewRenderer(fsys, render.Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range d.Roots {
		seen[r.Dir] = true
	}
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if dir := filepath.ToSlash(filepath.Dir(name)); err == nil && tree.IsKustomizationName(entry.Name()) && !seen[dir] {
			seen[dir] = true
			used = append(used, render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d.Roots, used
}

// TestInputsCoverRenders compares the trees in testdata with their needs.
func TestInputsCoverRenders(t *testing.T) {
	for _, name := range archives(t) {
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, _ := treeOf(archive)
			checkInputs(t, fsys, everyRoot(t, fsys), 1)
		})
	}
}

// TestCorporaInputsCoverRenders does the same for a sample of the kustomizations that roots of real repositories use.
// TestCorpora in scanner does it for all roots.
func TestCorporaInputsCoverRenders(t *testing.T) {
	const oneIn = 5
	for _, bundle := range corpora(t) {
		t.Run(strings.TrimSuffix(filepath.Base(bundle), ".bundle"), func(t *testing.T) {
			c := clone(t, bundle)
			fsys := c.tree(t, c.branches[0])
			_, used := rootsAndUsed(t, fsys)
			var some []render.Root
			for i := 0; i < len(used); i += oneIn {
				some = append(some, used[i])
			}
			looked := checkInputs(t, fsys, some, objectsLookedFor)
			t.Logf("%s: %d kustomizations, %d objects looked for", c.branches[0], len(some), looked)
		})
	}
}

// TestHiddenWords renders kinds, names and namespaces that are written so that they are not visible in the text.
func TestHiddenWords(t *testing.T) {
	plain := func(text string) map[string]string { return map[string]string{"r/o.yaml": text} }
	patched := func(operations string) map[string]string {
		return map[string]string{
			"r/kustomization.yaml": "resources: [o.yaml]\npatches:\n- target: {kind: Widget}\n  patch: " + operations + "\n",
			"r/o.yaml":             "apiVersion: v1\nkind: Widget\nmetadata: {name: team}\n",
		}
	}
	object := func(kind string) string { return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: team}\n" }
	for name, files := range map[string]map[string]string{
		"numbers":               plain(object(`"Name\u0073pace"`)),
		"short numbers":         plain(object(`"Name\x73pace"`)),
		"joined lines":          plain(object("\"Name\\\n  space\"")),
		"joined Windows lines":  plain(object("\"Name\\\r\n  space\"")),
		"joined old Mac lines":  plain(object("\"Name\\\r  space\"")),
		"joined at NEL":         plain(object("\"Name\\\u0085  space\"")),
		"joined at LS":          plain(object("\"Name\\\u2028  space\"")),
		"binary":                plain(object("!!binary TmFtZXNwYWNl")),
		"binary behind a break": plain("{apiVersion: v1, kind:\u2028 !!binary TmFtZXNwYWNl, metadata: {name: team}}"),
		"verbatim tag":          plain(object("!<tag:yaml.org,2002:binary> TmFtZXNwYWNl")),
		"list":                  plain("apiVersion: v1\nkind: NamespaceList\nitems:\n- metadata: {name: team}\n"),
		"list of lists":         plain("apiVersion: v1\nkind: NamespaceListList\nitems:\n- items:\n  - metadata: {name: team}\n"),
		"tagged":                plain(object("!!str Namespace")),
		"folded":                plain(object(">-\n  Namespace")),
		"alias":                 plain("apiVersion: v1\nmetadata: {annotations: {a: &kind Namespace}, name: team}\nkind: *kind\n"),
		"merged":                plain("apiVersion: v1\n<<: {kind: Namespace}\nmetadata: {name: team}\n"),
		"escaped slash":         {"r/o.json": `{"apiVersion":"example.com\/v1","kind":"Namespace","metadata":{"name":"team"}}`},
		"JSON":                  {"r/o.json": `{"apiVersion":"example.com\/v1","kind":"Name\u0073pace","metadata":{"name":"team"}}`},
		"no plain name":         plain("apiVersion: v1\nkind: Namespace\nmetadata: {name: 'it''s', namespace: \"a\\\"b\"}\n"),
		"behind an escape":      patched(`"- {op: replace, path: /kind, value:\nNamespace}"`),
		"number in a patch":     patched(`'[{"op": "replace", "path": "/kind", "value": "Name\u0073pace"}]'`),
		"number twice escaped":  patched(`"[{\"op\": \"replace\", \"path\": \"/kind\", \"value\": \"Name\\u0073pace\"}]"`),
		"lines joined twice":    patched(`"- {op: replace, path: /kind, value: \"Name\\\n  space\"}"`),
		"binary in a patch":     patched(`"- {op: replace, path: /kind, value:\n!!binary TmFtZXNwYWNl}"`),
		"moved":                 patched(`'[{"op": "move", "from": "/metadata/name", "path": "/metadata/namespace"}, {"op": "add", "path": "/metadata/name", "value": "other"}]'`),
		"prefix of what was another kind": {
			"r/kustomization.yaml": "resources: [../b]\nnamePrefix: my-\n",
			"b/kustomization.yaml": "resources: [o.yaml]\npatches:\n- target: {kind: Widget}\n  patch: '- {op: replace, path: /kind, value: Namespace}'\n",
			"b/o.yaml":             "apiVersion: v1\nkind: Widget\nmetadata: {name: team}\n",
		},
		"generated":                   {"r/kustomization.yaml": "configMapGenerator: [{name: team, literals: [a=b]}]\nnamespace: x\n"},
		"generated, in other letters": {"r/kustomization.yaml": "CONFIGMAPGENERATOR: [{name: team, literals: [a=b]}]\nsecretgenerator: [{name: team, literals: [a=b]}]\n"},
		"prefix and suffix": {
			"r/kustomization.yaml": "resources: [../b]\nnamePrefix: my-\n",
			"b/kustomization.yaml": "resources: [o.yaml]\nnameSuffix: -x\n", "b/o.yaml": object("ConfigMap"),
		},
		"replaced": {
			"r/kustomization.yaml": "resources: [o.yaml]\nreplacements:\n- source: {kind: Widget, fieldPath: spec.a, options: {delimiter: '-', index: 0}}\n  targets:\n  - {select: {kind: ConfigMap}, fieldPaths: [metadata.namespace], options: {create: true}}\n",
			"r/o.yaml":             "apiVersion: v1\nkind: Widget\nmetadata: {name: team}\nspec: {a: x-y}\n---\n" + object("ConfigMap") + "  ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, text := range files {
				fsys[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if looked := checkInputs(t, fsys, everyRoot(t, fsys), 1); looked == 0 {
				t.Errorf("nothing renders: %v", problemsOf(t, fsys))
			}
		})
	}
}

// TestMayHold checks words that only look similar.
func TestMayHold(t *testing.T) {
	renderer := sources.NewRenderer(fstest.MapFS{
		"plain/o.yaml":         {Data: []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: my-team, namespace: team.example.com}\nrules: [{apiGroups: [apps]}]\n")},
		"k/kustomization.yaml": {Data: []byte("resources: [o.yaml]\nnamePrefix: dev-\nsecretGenerator: [{name: s, literals: [a=b]}]\n")},
		"k/o.yaml":             {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n")},
	}, render.Options{})
	plain := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: "plain"}, Files: []string{"plain/o.yaml"}}
	k := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}}
	for _, c := range []struct {
		root render.Root
		m    render.Mention
		want bool
	}{
		{plain, render.Mention{Kind: "ClusterRole", Name: "my-team", Word: "team.example.com", Group: "rbac.authorization.k8s.io"}, true},
		{plain, render.Mention{Kind: "Role"}, false},
		{plain, render.Mention{Name: "team"}, false},
		{plain, render.Mention{Word: "example.com"}, false},
		{plain, render.Mention{Group: "apps"}, false},
		{plain, render.Mention{Kind: "ConfigMap"}, false},
		{k, render.Mention{Kind: "Namespace", Name: "team"}, true},
		{k, render.Mention{Kind: "Namespace", Name: "dev-other"}, false},
		{k, render.Mention{Kind: "Namespace", Name: "dev"}, false},
		{k, render.Mention{Kind: "Secret", Name: "anything"}, true},
		{k, render.Mention{Kind: "Secret", Word: "elsewhere"}, false},
		{k, render.Mention{Kind: "ConfigMap"}, false},
	} {
		if got := renderer.MayHold(renderer.Needs(c.root), c.m); got != c.want {
			t.Errorf("%s may hold %+v: %v, want %v", fmt.Sprint(c.root.Dir), c.m, got, c.want)
		}
	}
}

// problemsOf returns the reasons why roots do not render.
func problemsOf(t *testing.T, fsys fs.FS) (problems []*render.Problem) {
	t.Helper()
	for _, root := range everyRoot(t, fsys) {
		problems = append(problems, sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), root).Problem)
	}
	return problems
}
