package deploy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/render"
)

// TestIdentity checks that a root with an identity renders to the same for all versions of Kubernetes, with the same
// identity, and that Applications without charts have one.
func TestIdentity(t *testing.T) {
	named, charts := 0, 0
	for _, name := range applications(t) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for _, f := range archive.Files {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		older, newer := identities(t, files, "v1.33.0"), identities(t, files, "v1.36.0")
		for root, is := range older {
			switch other, ok := newer[root]; {
			case is.identity == "":
				charts++
			case !ok, is != other:
				t.Errorf("%s of %s: %+v in one version, %+v in another", root, name, is, other)
			default:
				named++
			}
		}
	}
	if named < 15 || charts < 5 {
		t.Errorf("only %d have an identity and %d have none", named, charts)
	}
}

// identified is the identity of a root, and its objects.
type identified struct{ identity, objects string }

// nowhere returns an empty root for each identity.
func nowhere(id render.RootID) (render.Root, bool) {
	return render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: "none"}}, true
}

func identities(t *testing.T, files fstest.MapFS, version string) map[render.RootID]identified {
	t.Helper()
	r, graph := expanded(t, files, version)
	all := map[render.RootID]identified{}
	for _, root := range graph.Units {
		var objects strings.Builder
		result := r.Render(t.Context(), root)
		for _, o := range result.Objects {
			objects.Write(o.JSON)
		}
		if result.Problem == nil {
			all[root.RootID] = identified{r.Identity(root, result, nowhere), objects.String()}
		}
	}
	return all
}

// TestChartsOfVersions checks that a chart which does not read the version of Kubernetes is rendered once for all
// versions it allows, and other charts for each version.
func TestChartsOfVersions(t *testing.T) {
	files := fstest.MapFS{"clusters/production/sync.yaml": &fstest.MapFile{Data: []byte(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/r"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/production, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`)}}
	for name, of := range map[string]struct{ wanted, template string }{
		"plain":  {"", "a"},
		"wanted": {">=1.30.0-0", "a"},
		"reads":  {"", "{{ .Capabilities.KubeVersion.Minor }}"},
	} {
		files["charts/"+name+"/Chart.yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, "{apiVersion: v2, name: %s, version: 1.0.0, kubeVersion: %q}", name, of.wanted)}
		files["charts/"+name+"/templates/c.yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: %q}}", of.template)}
		files["clusters/production/"+name+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, chart: {spec: {chart: ./charts/%[1]s, sourceRef: {kind: GitRepository, name: flux-system}}}}
`, name)}
	}
	options := isolated(t)
	var err error
	if options.Cache, err = render.OpenCache(t.TempDir(), 1<<30); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		version string
		want    map[string]string // the objects of each chart, and whether the version is known to have no influence
	}{
		{"v1.36.0", map[string]string{"plain": "a true", "wanted": "a true", "reads": "36 false"}},
		{"v1.33.0", map[string]string{"plain": "a true", "wanted": "a true", "reads": "33 false"}},
		{"v1.29.0", map[string]string{"plain": "a true", "wanted": "chart requires kubeVersion: >=1.30.0-0", "reads": "29 false"}},
		{"v1.36.0", map[string]string{"plain": "a true", "wanted": "a true", "reads": "36 false"}},
	} {
		r, graph := expandedWith(t, files, step.version, options)
		found := 0
		for _, root := range graph.Units {
			want, ok := step.want[root.Object.Name]
			if !ok {
				continue
			}
			found++
			got := ""
			if result := r.Render(t.Context(), root); result.Problem != nil {
				got = result.Problem.Message
			} else {
				got = fmt.Sprint(result.Objects[0].Content()["data"].(map[string]any)["a"], " ", r.Identity(root, result, nowhere) != "")
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s of %s: %s, want %s", root.Object.Name, step.version, got, want)
			}
		}
		if found != len(step.want) {
			t.Errorf("%d charts are deployed", found)
		}
	}
}
