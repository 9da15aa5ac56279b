package kustomize_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/plain"
	"github.com/preadmit/preadmit/render/tree"
)

// TestArtifacts checks that the artifacts of a root are known before it is rendered, although the root is
// refused.
func TestArtifacts(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	fsys := fstest.MapFS{
		"app/kustomization.yaml": file(`resources:
- https://github.com/org/repo//deploy?ref=v1.2.3
- https://example.com/crds.yaml
- git@github.com:org/other.git
- ../base
helmCharts:
- {name: podinfo, repo: "https://charts.example.com", version: 6.5.0}
`),
		"base/kustomization.yaml": file("components: ['github.com/org/repo/component?version=main']\n"),
	}
	root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}}
	needs := render.NewRenderer(fsys, render.Options{}, kustomize.New, plain.New).Needs(root)
	at := func(path string, line, column int) render.Position {
		return render.Position{Path: path, Line: line, Column: column}
	}
	want := []render.Artifact{
		{Kind: render.ArtifactGit, URL: "https://github.com/org/repo", Version: "v1.2.3", Dir: "deploy", Submodules: true, Position: at("app/kustomization.yaml", 2, 3)},
		{Kind: render.ArtifactFile, URL: "https://example.com/crds.yaml", Position: at("app/kustomization.yaml", 3, 3)},
		{Kind: render.ArtifactGit, URL: "git@github.com:org/other.git", Submodules: true, Position: at("app/kustomization.yaml", 4, 3)},
		{Kind: render.ArtifactChart, URL: "https://charts.example.com", Name: "podinfo", Version: "6.5.0", Position: at("app/kustomization.yaml", 7, 3)},
		{Kind: render.ArtifactGit, URL: "https://github.com/org/repo", Version: "main", Dir: "component", Submodules: true, Position: at("base/kustomization.yaml", 1, 14)},
	}
	if diff := cmp.Diff(want, needs.Artifacts); diff != "" {
		t.Error(diff)
	}
	if needs.Problem == nil || needs.Problem.Kind != render.ProblemRefused {
		t.Errorf("problem %v", needs.Problem)
	}
}

// TestWhatReplacementsMayHold checks that replacements in fields other than names and kinds leave the kinds of
// a root known.
func TestWhatReplacementsMayHold(t *testing.T) {
	const (
		settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: x, b: other}}\n"
		policy   = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}}\n"
	)
	replace := func(to string) string {
		return "source: {kind: ConfigMap, name: settings, fieldPath: data.a}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: ['" + to + "']}]\n"
	}
	kind, named, word := render.Mention{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}, render.Mention{Kind: "ConfigMap", Name: "elsewhere"}, render.Mention{Kind: "ConfigMap", Word: "elsewhere"}
	for name, test := range map[string]struct {
		kustomization, file string
		mayHold             []render.Mention
	}{
		"nothing":                    {"", "", nil},
		"a field":                    {"replacements:\n- " + replace("data.b"), "", []render.Mention{word}},
		"a field, in a file":         {"replacements: [{path: more}]\n", "- " + replace("data.b"), []render.Mention{word}},
		"a name":                     {"replacements:\n- " + replace("metadata.name"), "", []render.Mention{named, word}},
		"a kind":                     {"replacements:\n- " + replace("kind"), "", []render.Mention{kind, named, word}},
		"a kind, in a file":          {"replacements: [{path: more}]\n", "- " + replace("apiVersion"), []render.Mention{kind, named, word}},
		"what is not plain":          {"replacements:\n- " + replace("[x=y]"), "", []render.Mention{kind, named, word}},
		"references":                 {"configurations: [more]\n", "nameReference: [{kind: ConfigMap, fieldSpecs: [{path: data/b, kind: ConfigMap}]}]\n", []render.Mention{word}},
		"references that are names":  {"configurations: [more]\n", "nameReference: [{kind: ConfigMap, fieldSpecs: [{path: metadata/name, kind: ConfigMap}]}]\n", []render.Mention{named, word}},
		"references that are kinds":  {"configurations: [more]\n", "nameReference: [{kind: ConfigMap, fieldSpecs: [{path: /kind, kind: ConfigMap}]}]\n", []render.Mention{kind, named, word}},
		"a file that is no YAML":     {"configurations: [more]\n", "[\n", []render.Mention{kind, named, word}},
		"transformers":               {"transformers: [more]\n", "{}\n", []render.Mention{kind, named, word}},
		"what is there":              {"resources: [policy.yaml]\n", "", []render.Mention{kind}},
		"what a patch makes of it":   {"patches: [{path: more}]\n", policy, []render.Mention{kind}},
		"what an inline patch makes": {"patches: [{patch: '" + policy[:len(policy)-1] + "'}]\n", "", []render.Mention{kind}},
	} {
		files := fstest.MapFS{
			"app/kustomization.yaml": {Data: []byte(strings.Replace("resources: [settings.yaml]\n"+test.kustomization, "[settings.yaml]\nresources: [", "[settings.yaml, ", 1))},
			"app/settings.yaml":      {Data: []byte(settings)}, "app/policy.yaml": {Data: []byte(policy)}, "app/more": {Data: []byte(test.file)},
		}
		r := render.NewRenderer(files, render.Options{}, kustomize.New, plain.New)
		in := r.Needs(at("app"))
		for _, m := range []render.Mention{kind, named, word} {
			if got, want := r.MayHold(in, m), slices.Contains(test.mayHold, m); got != want {
				t.Errorf("%s: may hold %v is %v", name, m, got)
			}
		}
	}
}

// TestWordsOfOneObject checks that the words of an object are in one file, or in files that are no resources.
func TestWordsOfOneObject(t *testing.T) {
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: one}}\n"
	mention := render.Mention{Kind: "Namespace", Name: "other"}
	for name, test := range map[string]struct {
		kustomization, more string
		want                bool
	}{
		"in different resources":   {"resources: [ns.yaml, more.yaml]", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}\n", false},
		"in one":                   {"resources: [ns.yaml, more.yaml]", "{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n", true},
		"from the kustomization":   {"resources: [ns.yaml]\nnamespace: other", "", true},
		"from a patch":             {"resources: [ns.yaml]\npatches: [{path: more.yaml, target: {kind: Namespace}}]", "[{op: replace, path: /metadata/name, value: other}]\n", true},
		"in the data of generated": {"resources: [ns.yaml]\nconfigMapGenerator: [{name: g, files: [more.yaml]}]", "a: other\n", false},
	} {
		files := fstest.MapFS{
			"app/kustomization.yaml": {Data: []byte(test.kustomization + "\n")}, "app/ns.yaml": {Data: []byte(namespace)}, "app/more.yaml": {Data: []byte(test.more)},
		}
		r := render.NewRenderer(files, render.Options{}, kustomize.New, plain.New)
		if got := r.MayHold(r.Needs(at("app")), mention); got != test.want {
			t.Errorf("%s: may hold is %v", name, got)
		}
	}
}

// TestBuiltOnce checks that a result is reused for other roots of the same directory, and for a kustomization
// that only names it, if kustomize's load restrictor allows it.
func TestBuiltOnce(t *testing.T) {
	_, files := sourceOf(map[string]string{
		"base/kustomization.yaml": "resources: [cm.yaml]\n", "base/cm.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
		"only/kustomization.yaml":  "resources: [../base]\n",
		"more/kustomization.yaml":  "resources: [../base]\nnamePrefix: more-\n",
		"out/kustomization.yaml":   "resources: [../base/cm.yaml]\n",
		"twice/kustomization.yaml": "resources: [../only]\n",
	}, render.Options{})
	free := kustomize.New(files, render.Options{LoadRestrictor: render.LoadRestrictionsNone})
	strict := kustomize.New(files, render.Options{LoadRestrictor: render.LoadRestrictionsRootOnly})
	render1 := func(s render.Source, dir string) *render.Result { return s.Render(t.Context(), at(dir)) }
	for dir, want := range map[string]string{"only": "ConfigMap/a", "more": "ConfigMap/more-a", "base": "ConfigMap/a", "twice": "ConfigMap/a", "out": "ConfigMap/a"} {
		first := render1(free, dir)
		if got := names(first); got != want {
			t.Errorf("%s: got %s, want %s", dir, got, want)
		}
		again, alone := render1(strict, dir), sourcesRender(files.Fsys, dir)
		if dir == "out" {
			if again.Problem == nil {
				t.Error("the load restrictor does not count for what was built without it")
			}
			continue
		}
		if diff := cmp.Diff(alone.Trace, again.Trace); diff != "" || names(again) != want {
			t.Errorf("%s: got %s, and what was read differs: %s", dir, names(again), diff)
		}
		if len(first.Objects) > 0 && len(again.Objects) > 0 && first.Objects[0] == again.Objects[0] {
			t.Errorf("%s: two results share an object", dir)
		}
	}
}

// sourcesRender renders a directory of a tree without cached data.
func sourcesRender(files fs.FS, dir string) *render.Result {
	return kustomize.New(tree.New(files, tree.Limits{}), render.Options{}).Render(context.Background(), at(dir))
}
