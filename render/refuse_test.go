package render_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

// canary starts a server on the loopback interface that must not be contacted.
func canary(t *testing.T) (host string, touched *atomic.Int32) {
	t.Helper()
	touched = new(atomic.Int32)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fetched}\n")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			touched.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), touched
}

// TestNothingIsFetched checks every form of entry that makes kustomize run git, helm or a plugin, or fetch over HTTP.
// Each must be refused on the line of the entry, or left out and reported, before anything is contacted.
func TestNothingIsFetched(t *testing.T) {
	host, touched := canary(t)
	t.Setenv("PATH", "")
	http := "http://" + host + "/"
	bases := []string{
		http + "org/repo", "HTTP://" + host + "/org/repo?ref=main", http + "org/repo.git//sub?ref=v1&timeout=1s",
		http + "_git/repo", "git::" + http + "org/repo", "GIT::" + http + "org/repo", "https://" + host + "/org/repo",
		"ssh://git@" + host + "/org/repo", "file:///srv/repo", "FILE:///srv/repo.git", "git@" + host + ":org/repo",
		"git@github.com:org/repo.git", "github.com/org/repo", "GitHub.com/org/repo?ref=main", "github.com:org/repo",
		"org-1@ssh.example.com/org/repo", "https://gitlab.com/org/group/repo//sub", "https://dev.azure.com/o/p/_git/r",
		http + "deployment.yaml",
	}
	cases := map[string]string{}
	for i, base := range bases {
		for _, field := range []string{"resources", "bases", "components", "generators", "transformers", "validators"} {
			cases[fmt.Sprintf("%s %d %s", field, i, base)] = fmt.Sprintf("namePrefix: a-\n%s:\n- %q\n", field, base)
		}
	}
	url := http + "file.yaml"
	for name, text := range map[string]string{
		"patch":            "patches:\n- path: %s\n",
		"strategic":        "patchesStrategicMerge:\n- %s\n",
		"json6902":         "patchesJson6902:\n- path: %s\n  target: {kind: A, name: a, version: v1}\n",
		"files":            "configMapGenerator:\n- name: a\n  files:\n  - %s\n",
		"keyed files":      "configMapGenerator:\n- name: a\n  files:\n  - k=%s\n",
		"envs":             "configMapGenerator:\n- name: a\n  envs: [%q]\n",
		"env":              "secretGenerator:\n- name: a\n  env: %s\n",
		"crds":             "crds:\n- %s\n",
		"configurations":   "configurations:\n- %s\n",
		"openapi":          "openapi:\n  path: %s\n",
		"replacements":     "replacements:\n- path: %s\n",
		"other case":       "RESOURCES:\n- %s\n",
		"anchor":           "namePrefix: &u %s\nresources:\n- *u\n",
		"behind a local":   "resources:\n- base\n- %s\n",
		"below a base":     "resources:\n- remote\n# %s\n",
		"plugin path":      "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: a}\n  path: %s\n",
		"plugin lines":     "transformers:\n- \"apiVersion: builtin\\rkind: PatchTransformer\\rmetadata: [name]\\rpath: %s\"\n",
		"plugin file":      "transformers:\n- plugin.yaml\n# %s\n",
		"plugin binary":    "transformers:\n- binary.yaml\n# %s\n",
		"plugin directory": "transformers:\n- plugins\n# %s\n",
		"plugin assembled": "transformers:\n- assembled\n# %s\n",
		"exec plugin":      "generators:\n- |\n  apiVersion: example.com/v1\n  kind: Run\n  metadata: {name: a}\n# %s\n",
		"function":         "transformers:\n- |\n  apiVersion: v1\n  kind: Run\n  metadata: {name: a, annotations: {config.kubernetes.io/function: 'container: {image: a}'}}\n# %s\n",
		"helm":             "helmCharts:\n- name: a\n  repo: %s\n",
		"helm generator":   "helmChartInflationGenerator:\n- chartName: a\n  chartRepoUrl: %s\n",
		"helm plugin":      "generators:\n- |\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: a}\n  name: a\n  repo: %s\n",
	} {
		cases[name] = fmt.Sprintf(text, url)
	}
	leftOut := map[string]bool{"files": true, "keyed files": true, "behind a local": true}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) { refused(t, text, url, leftOut[name]) })
	}
	if n := touched.Load(); n != 0 {
		t.Errorf("the network was touched %d times", n)
	}
}

func refused(t *testing.T, kustomization, url string, leftOut bool) {
	t.Helper()
	plugin := "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\n"
	fsys := fstest.MapFS{}
	for name, data := range map[string]string{
		"root/kustomization.yaml":           kustomization,
		"root/base/kustomization.yaml":      "configMapGenerator:\n- name: b\n",
		"root/remote/kustomization.yaml":    "resources:\n- " + url + "\n",
		"root/plugin.yaml":                  "apiVersion: v1\nkind: List\nitems:\n- apiVersion: builtin\n  kind: PatchTransformer\n  Path: " + url + "\n",
		"root/binary.yaml":                  plugin + "!!binary cGF0aA==: !!binary aHR0cDovL2EvYg==\n",
		"root/plugins/kustomization.yaml":   "resources: [p.yaml]\n",
		"root/plugins/p.yaml":               plugin + "path: " + url + "\n",
		"root/assembled/kustomization.yaml": "resources: [p.yaml]\npatches:\n- patch: '[{op: add, path: /path, value: x}]'\n  target: {kind: PatchTransformer}\n",
		"root/assembled/p.yaml":             plugin,
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(data)}
	}
	result := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "root"}})
	if leftOut {
		unknown := func(o *render.Object) bool { return len(o.Unknown) > 0 }
		if result.Problem != nil || result.Lacks == nil && !slices.ContainsFunc(result.Objects, unknown) {
			t.Errorf("neither refused nor without something: %+v", result)
		}
		return
	}
	if result.Problem == nil || result.Problem.Kind != render.ProblemRefused {
		t.Fatalf("not refused: %+v", result.Problem)
	}
	if result.Problem.Line == 0 || !strings.HasPrefix(result.Problem.Path, "root/") {
		t.Errorf("no line: %v", result.Problem)
	}
}

func TestLayeringBomb(t *testing.T) {
	fsys := fstest.MapFS{"l0/kustomization.yaml": {Data: []byte("configMapGenerator:\n- name: a\n")}}
	for i := 1; i <= 40; i++ {
		text := "resources: [a, b]\n"
		side := fmt.Sprintf("namePrefix: x-\nresources: [../../l%d]\n", i-1)
		dir := fmt.Sprintf("l%d", i)
		fsys[dir+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte(text)}
		fsys[dir+"/a/kustomization.yaml"] = &fstest.MapFile{Data: []byte(side)}
		fsys[dir+"/b/kustomization.yaml"] = &fstest.MapFile{Data: []byte(side)}
	}
	result := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "l40"}})
	if result.Problem == nil || result.Problem.Kind != render.ProblemRefused || !strings.Contains(result.Problem.Message, "over a billion") {
		t.Errorf("problem %v", result.Problem)
	}
}

func TestFileLimit(t *testing.T) {
	big := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: " + strings.Repeat("x", 2000) + "\n"
	fsys := fstest.MapFS{"a.yaml": {Data: []byte(big)}, "k/kustomization.yaml": {Data: []byte("resources: [../a.yaml]")}}
	r := sources.NewRenderer(fsys, render.Options{Limits: tree.Limits{FileBytes: 1000}})
	for _, root := range []render.Root{{RootID: render.RootID{Kind: render.KindPlain, Dir: "."}, Files: []string{"a.yaml"}}, {RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}}} {
		p := r.Render(context.Background(), root).Problem
		if p == nil || p.Kind != render.ProblemRefused || p.Path != "a.yaml" || !strings.Contains(p.Message, "limit of 1000 bytes") {
			t.Errorf("%s: problem %v", root.Kind, p)
		}
	}
	if p := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}}).Problem; p != nil {
		t.Errorf("within the default limit: %v", p)
	}
}

// TestSizeLimits checks the limits of keys and resources: kustomize's time grows with the square of the keys of a
// mapping and of the resources of a root.
func TestSizeLimits(t *testing.T) {
	head := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	var wide, many strings.Builder
	wide.WriteString(head + "data:\n")
	for i := range 30 {
		fmt.Fprintf(&wide, "  k%d: x\n", i)
		fmt.Fprintf(&many, "---\n%s", strings.Replace(head, "name: a", fmt.Sprintf("name: a%d", i), 1))
	}
	fsys := fstest.MapFS{
		"wide.yaml": {Data: []byte(wide.String())}, "many.yaml": {Data: []byte(many.String())},
		"w/kustomization.yaml": {Data: []byte("resources: [../wide.yaml]")},
		"p/kustomization.yaml": {Data: []byte("resources: [../many.yaml]\npatches:\n" + strings.Repeat("- {target: {name: a1}, patch: '- {op: add, path: /data, value: {}}'}\n", 4))},
		"m/kustomization.yaml": {Data: []byte("resources: [../many.yaml]")},
		"g/kustomization.yaml": {Data: []byte("resources: [../h]\nconfigMapGenerator: [{name: c}]\nsecretGenerator: [{name: c}]")},
		"h/kustomization.yaml": {Data: []byte("configMapGenerator: [{name: b}]\nresources: [one.yaml]")},
		"h/one.yaml":           {Data: []byte(head)},
	}
	limits := map[string]tree.Limits{"w": {Keys: 20}, "m": {Documents: 20}, "g": {Documents: 3}, "p": {Patches: 100}}
	for dir, want := range map[string]string{
		"w": "wide.yaml:5: the mapping has 30 keys, more than the limit of 20",
		"p": "p/kustomization.yaml:1: rendering would try patches on resources 120 times, more than the limit of 100",
		"m": "m/kustomization.yaml:1: rendering would load 30 resources, more than the limit of 20",
		"g": "g/kustomization.yaml:1: rendering would load and generate 4 resources, more than the limit of 3",
	} {
		root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}}
		p := sources.NewRenderer(fsys, render.Options{Limits: limits[dir]}).Render(context.Background(), root).Problem
		if p == nil || p.Kind != render.ProblemRefused || !strings.HasPrefix(p.Error(), want) {
			t.Errorf("%s: problem %v, want %s", dir, p, want)
		}
		if p := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), root).Problem; p != nil {
			t.Errorf("%s within the default limits: %v", dir, p)
		}
	}
	plain := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: "."}, Files: []string{"wide.yaml"}}
	if p := sources.NewRenderer(fsys, render.Options{Limits: tree.Limits{Keys: 20}}).Render(context.Background(), plain).Problem; p == nil || p.Kind != render.ProblemRefused {
		t.Errorf("plain: problem %v", p)
	}
}
