package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/sources"
)

var update = flag.Bool("update", false, "write what is rendered as what is wanted")

func applications(t *testing.T) []string {
	t.Helper()
	archives, _ := filepath.Glob("testdata/argocd/*.txtar")
	if len(archives) == 0 {
		t.Fatal("no archives")
	}
	return archives
}

// TestApplications checks what Argo CD deploys for small repositories: each archive has the files, and the expected
// units with their objects and some fields.
func TestApplications(t *testing.T) {
	for _, name := range applications(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, want, fields := fstest.MapFS{}, "", ""
			for _, f := range archive.Files {
				switch f.Name {
				case "want":
					want = string(f.Data)
				case "fields":
					fields = string(f.Data)
				default:
					files[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			got := applied(t, files, strings.Fields(fields))
			if *update {
				archive.Files[len(archive.Files)-1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", bytes.TrimSpace(archive.Comment), diff)
			}
		})
	}
}

// TestManyFilesOfOneName checks that a directory makes a bounded number of clusters, and that the rest is reported.
func TestManyFilesOfOneName(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 150 {
		files[fmt.Sprintf("apps/%03d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"+
			"spec: {source: {repoURL: 'https://git.example.com/r', path: web}, destination: {name: in-cluster, namespace: n%d}}\n", i)}
	}
	_, graph := expanded(t, files, "")
	if len(graph.Units) != 100 || len(graph.Gaps) != 50 {
		t.Errorf("%d units and %d gaps, want 100 and 50", len(graph.Units), len(graph.Gaps))
	}
}

// expanded returns what Argo CD deploys of a tree to clusters with a version of Kubernetes.
func expanded(t *testing.T, files fstest.MapFS, version string) (*render.Renderer, *deploy.Graph) {
	t.Helper()
	return expandedWith(t, files, version, isolated(t))
}

// expandedWith is like expanded, for a renderer with options.
func expandedWith(t *testing.T, files fstest.MapFS, version string, options render.Options) (*render.Renderer, *deploy.Graph) {
	t.Helper()
	tracking := "none"
	if files["tracked"] != nil {
		tracking = "annotation"
	}
	r := sources.NewRenderer(files, options)
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	graph, err := deploy.Expand(context.Background(), r, found, deploy.Options{
		Everything: true, KubeVersion: version, Self: []string{"https://git.example.com/r"},
		ArgoCD: deploy.ArgoCD{
			Tracking: tracking, BuildOptions: "--enable-helm", Clusters: []appset.Cluster{{Name: "prod", Server: "https://10.0.0.1", Labels: map[string]string{"tier": "prod"}, Annotations: map[string]string{"note": "n", "argocd.argoproj.io/refresh": "hard"}}},
			Generators: []appset.Generator{{Set: "previews", Kind: "pullRequest", Parameters: []map[string]any{{"number": "7"}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, graph
}

// applied returns the units of a tree with their objects, as lines.
func applied(t *testing.T, files fstest.MapFS, fields []string) string {
	t.Helper()
	r, graph := expanded(t, files, "")
	var out strings.Builder
	for _, root := range graph.Units {
		fmt.Fprintf(&out, "%s", root.Object)
		if root.Unit.Cluster != "in-cluster" {
			fmt.Fprintf(&out, " to %s", root.Unit.Cluster)
		}
		out.WriteString("\n")
		result := graph.Results[root.RootID]
		if result == nil {
			result = r.Render(context.Background(), root)
		}
		if result.Problem != nil {
			fmt.Fprintf(&out, "  %s: %s: %s\n", result.Problem.Kind, result.Problem.Place(), result.Problem.Message)
		}
		for _, d := range result.Diagnostics {
			fmt.Fprintf(&out, "  %s: %s\n", d.Severity, d.Message)
		}
		for _, o := range result.Objects {
			out.WriteString("  " + line(o, fields) + "\n")
		}
	}
	for _, gap := range graph.Gaps {
		fmt.Fprintf(&out, "%s: %s\n", gap.Kind, gap.Why)
	}
	return out.String()
}

// line returns an object with some of its fields.
func line(o *render.Object, fields []string) string {
	content := o.Content()
	kind, name := o.KindAndName()
	metadata, _ := content["metadata"].(map[string]any)
	text := fmt.Sprintf("%s %v/%s", kind, metadata["namespace"], name)
	for _, field := range fields {
		if value, ok := at(content, strings.Split(field, "/")); ok {
			data, _ := json.Marshal(value)
			text += " " + field[strings.LastIndexByte(field, '/')+1:] + "=" + string(data)
		}
	}
	if o.Role != render.RoleObject {
		text += " (" + string(o.Role) + ")"
	}
	if slices.ContainsFunc(o.Unknown, func(render.Unknown) bool { return true }) {
		text += " unknown"
	}
	return text
}

func at(value any, path []string) (any, bool) {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}
