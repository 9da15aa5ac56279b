package scanner_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/scanner"
)

// TestLeftOut checks that files which may be applied but are in no root are reported if the change
// touches them.
func TestLeftOut(t *testing.T) {
	manifest := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}
	other := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}")}
	values := &fstest.MapFile{Data: []byte("replicas: 1")}
	at := func(commit string) *fstest.MapFile {
		return &fstest.MapFile{Mode: fs.ModeIrregular, Data: []byte(commit)}
	}
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(to)}
	}
	// These are not reported: no plain root is above them, or a kustomization reads them.
	tree := func(more fstest.MapFS) scanner.Tree {
		files := fstest.MapFS{
			"apps/a.yaml":                   manifest,
			"kustomized/kustomization.yaml": {Data: []byte("resources: [a.yaml]")}, "kustomized/a.yaml": manifest,
			"apps/.h/values.yaml": values, "lib/a.jsonnet": values, "lib/link": link("../docs"), "docs/a.md": values,
			"env/kustomization.yaml": {Data: []byte("resources: [../shared/a.yaml]")}, "shared/a.yaml": manifest,
		}
		maps.Copy(files, more)
		return scanner.Tree{FS: treetest.Name(files)}
	}
	without := tree(nil)
	elsewhere := tree(fstest.MapFS{"lib/a.jsonnet": other, "lib/link": link("../env/../docs")})
	submodule, moved := tree(fstest.MapFS{"apps/deep/vendor": at("1")}), tree(fstest.MapFS{"apps/deep/vendor": at("2")})
	about := &fstest.MapFile{Data: []byte("{apiVersion: v2, name: ch, version: 1.0.0}")}
	broken := &fstest.MapFile{Data: []byte("a: {{ .Values.gone.away }}")}
	chart := tree(fstest.MapFS{"ch/Chart.yaml": about, "ch/templates/p.yaml": manifest})
	edited := tree(fstest.MapFS{"ch/Chart.yaml": about, "ch/templates/p.yaml": other})
	failing := tree(fstest.MapFS{"ch/Chart.yaml": about, "ch/templates/p.yaml": broken})
	nameless := tree(fstest.MapFS{"ch/Chart.yaml": values, "ch/templates/p.yaml": manifest})
	umbrella := tree(fstest.MapFS{"ch/Chart.yaml": about, "ch/charts/c/Chart.yaml": about, "ch/charts/c/templates/p.yaml": broken})
	flux := &fstest.MapFile{Data: []byte("{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: flux-system, namespace: flux-system}, spec: {path: ./apps, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}}\n---\n{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: flux-system, namespace: flux-system}, spec: {url: https://git.example.com/a, interval: 1h}}")}
	uninstalled := tree(fstest.MapFS{"apps/flux.yaml": flux, "ch/Chart.yaml": about, "ch/templates/p.yaml": manifest})
	uninstalledEdited := tree(fstest.MapFS{"apps/flux.yaml": flux, "ch/Chart.yaml": about, "ch/templates/p.yaml": other})
	jsonnet := tree(fstest.MapFS{"apps/lib/a.jsonnet": values})
	unused := tree(fstest.MapFS{"shared/b.yaml": other})
	taken := tree(fstest.MapFS{"shared/b.yaml": other, "env/kustomization.yaml": {Data: []byte("resources: [../shared/a.yaml, ../shared/b.yaml]")}})
	linked, turned := tree(fstest.MapFS{"current": link("apps")}), tree(fstest.MapFS{"current": link("kustomized")})
	template := tree(fstest.MapFS{"apps/t.yaml": {Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {{ x }}\n{{ end }}")}})
	pointer := &fstest.MapFile{Data: []byte("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n")}
	pointers := tree(fstest.MapFS{"apps/t.json": pointer, "docs/t.json": pointer})
	extension := tree(fstest.MapFS{"apps/P.YAML": manifest, "docs/values.YAML": values, "env/kustomization.yaml": {Data: []byte("resources: [../shared/a.yaml, u.YML]")}, "env/u.YML": other})
	theme := tree(fstest.MapFS{"docs/theme": at("1")})
	const (
		isSubmodule = "apps/deep/vendor of apps: submodule, is a git submodule"
		isChart     = "ch of ch: chart, is a Helm chart"
	)
	for name, c := range map[string]struct {
		base *scanner.Tree
		head scanner.Tree
		want []string
	}{
		"nothing":             {&without, elsewhere, nil},
		"submodule":           {&without, submodule, []string{isSubmodule}},
		"submodule moved":     {&submodule, moved, []string{isSubmodule}},
		"submodule removed":   {&submodule, without, []string{strings.Replace(isSubmodule, "is a", "was a", 1)}},
		"submodule as it is":  {&submodule, submodule, []string{isSubmodule + ", untouched"}},
		"submodule, no base":  {nil, submodule, []string{isSubmodule}},
		"chart":               {&without, chart, nil},
		"chart changed":       {&chart, edited, nil},
		"chart without name":  {&without, nameless, []string{"ch/Chart.yaml of Chart/default/ch: render, the chart in ch cannot be read"}},
		"chart that fails":    {&without, failing, []string{"ch/templates/p.yaml of Chart/default/ch: render, chart ch 1.0.0"}},
		"it failed before":    {&failing, umbrella, []string{"ch/charts/c/templates/p.yaml of Chart/default/ch: root, this root does not render"}},
		"umbrella chart":      {&without, umbrella, []string{"ch/charts/c/templates/p.yaml of Chart/default/ch: render, chart ch 1.0.0"}},
		"not installed":       {&uninstalled, uninstalledEdited, []string{isChart}},
		"nothing installs it": {&uninstalled, uninstalled, []string{isChart + ", untouched"}},
		"jsonnet":             {&without, jsonnet, []string{"apps/lib/a.jsonnet of apps: jsonnet, is evaluated by Argo CD"}},
		"unused":              {&without, unused, []string{"shared/b.yaml of shared: unused manifest, is used by no kustomization"}},
		"unused removed":      {&unused, without, []string{"shared/b.yaml of shared: unused manifest, was used by no kustomization"}},
		"unused no more":      {&unused, taken, nil},
		"link":                {&without, linked, []string{"current of current: symbolic link, is a symbolic link to a directory: what is applied by its path is not judged by it"}},
		"link turned":         {&linked, turned, []string{"current of current: symbolic link, is a symbolic link to a directory: what is applied by its path is not judged by it"}},
		"template":            {&without, template, []string{"apps/t.yaml of apps: template, is a template"}},
		"Git LFS":             {&without, pointers, []string{"apps/t.json of apps: Git LFS pointer, is a pointer of Git LFS: the file itself is not in the repository"}},
		"extension":           {&without, extension, []string{"apps/P.YAML of apps: manifest with another extension, is a manifest"}},
		"unreadable":          {&without, scanner.Tree{FS: unlistable{without.FS}}, []string{"apps of apps: unreadable directory, is a directory that cannot be listed: permission denied"}},
		"submodule anywhere":  {&without, theme, []string{"docs/theme of docs: submodule, is a git submodule"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := scanner.Scan(context.Background(), scanner.Input{Base: c.base, Head: c.head})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range r.Indeterminate {
				why, _, _ := strings.Cut(i.Why, ",")
				line := fmt.Sprintf("%s of %s: %s, %s", i.Location.Path, i.Root, i.What, why)
				if i.Untouched {
					line += ", untouched"
				}
				got = append(got, line)
			}
			for _, f := range r.Findings {
				why, _, _ := strings.Cut(f.Message, ":")
				got = append(got, fmt.Sprintf("%s of %s: %s, %s", f.Location.Path, f.Root, f.Cause, why))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// unlistable is a tree whose directory apps cannot be listed.
type unlistable struct{ fs.FS }

func (u unlistable) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "apps" {
		return nil, fs.ErrPermission
	}
	return fs.ReadDir(u.FS, name)
}

// TestBrokenManifests checks that a manifest which a change breaks is an error, also if it then looks like a template:
// its objects are not deleted, and what applies it fails.
func TestBrokenManifests(t *testing.T) {
	const alert = "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: \"{{ $labels.x }}\"\n  y: |\n    {{ range . }}\n    {{ end }}\n"
	const other = "-- b.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
	broken := strings.Replace(alert, "\ndata:", "\n data:", 1)
	template := strings.Replace(alert, "name: a", "name: {{ .x }}", 1)
	const object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n"
	both := template + "---\n" + object
	for name, test := range map[string]struct {
		base, head  string
		want        string
		unjudged    int
		rootsFailed int
	}{
		"an alert":                            {alert, broken, "Error a.yaml:5 invalid YAML: did not find expected key", 0, 1},
		"an alert beside another":             {alert + other, broken + other, "Error a.yaml:5 invalid YAML: did not find expected key", 0, 1},
		"a template":                          {alert, template, "Error a.yaml:4 invalid YAML: invalid map key: ", 0, 1},
		"a template beside another":           {alert + other, template + other, "Error a.yaml:4 invalid YAML: invalid map key: ", 0, 1},
		"it was a template":                   {template, strings.Replace(template, "range .", "range .y", 1), "", 1, 0},
		"a new template":                      {other, other + template, "", 1, 0},
		"it is no longer a template":          {template, alert, "", 0, 0},
		"whole":                               {"", template, "", 1, 0},
		"a template in both beside an object": {both, both + other, "", 2, 0},
		"one of two documents":                {alert + "---\n" + object, both, "Error a.yaml:4 invalid YAML: invalid map key: ", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustScan(t, input(test.base, test.head))
			got := ""
			for _, f := range r.Findings {
				got += fmt.Sprintf("%s %s:%d %s", f.Action, f.Location.Path, f.Location.StartLine, f.Message)
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("findings %q, want %q", got, test.want)
			}
			if len(r.Indeterminate) != test.unjudged || r.Summary.Roots.Failed != test.rootsFailed || r.Summary.Roots.Rendered+r.Summary.Roots.Failed > 1 || test.rootsFailed > 0 && r.Summary.Requests > 0 {
				t.Errorf("not judged: %v, roots: %+v, %d requests", r.Indeterminate, r.Summary.Roots, r.Summary.Requests)
			}
		})
	}
}
