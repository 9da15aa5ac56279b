package scanner_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// deployments are real repositories with the objects that Flux's own code renders from them.
const deployments = "../../shared/deployments/flux"

// TestDeploymentsAreJudgedAsApplied scans real repositories, and as plain manifests the objects that Flux's
// own code renders from them, and checks that policies have the same findings.
func TestDeploymentsAreJudgedAsApplied(t *testing.T) {
	policies, err := os.ReadFile("testdata/deployments/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sets, _ := filepath.Glob(filepath.Join(deployments, "*", "entry.json"))
	if len(sets) == 0 {
		t.Skip("no recorded deployments at " + deployments + " to compare with")
	}
	testall.Long(t)
	for _, set := range sets {
		t.Run(path.Base(filepath.Dir(set)), func(t *testing.T) {
			dir := filepath.Dir(set)
			scan := func(tree scanner.Tree, c config.Config) *report.Report {
				return mustScan(t, scanner.Input{Head: tree, Config: c, Extra: []scanner.Extra{{Name: "policies.yaml", FS: fstest.MapFS{"policies.yaml": {Data: policies}}}}})
			}
			charts, err := store.OpenDirectory(filepath.Join(deployments, "../charts/flux"))
			if err != nil {
				t.Fatal(err)
			}
			got := scan(scanner.Tree{FS: overlay.WithCharts(os.DirFS(clone(t, dir)), charts)}, config.Config{Entries: entriesOf(t, set)})
			want := scan(scanner.Tree{FS: recorded(t, dir)}, config.Config{Unclaimed: config.UnclaimedJudge})
			deployed, plain, all := findingsOf(got), findingsOf(want), len(findingsOf(want))
			deployed, plain = comparable(deployed, plain, want), comparable(plain, deployed, got)
			if len(plain) < all*98/100 {
				t.Errorf("only %d of %d findings can be compared", len(plain), all)
			}
			if diff := cmp.Diff(plain, deployed, cmp.AllowUnexported(finding{})); diff != "" {
				t.Errorf("findings (-of the recorded objects +of the repository):\n%s", diff)
			}
			t.Logf("%d findings of %d requests; recorded: %d of %d", len(deployed), got.Summary.Requests, len(plain), want.Summary.Requests)
		})
	}
}

// argoDeployments are real repositories with the objects that Argo CD's own code renders from them.
const argoDeployments = "../../shared/deployments/argocd"

// TestArgoDeploymentsAreJudgedAsApplied is the same for repositories that Argo CD deploys.
func TestArgoDeploymentsAreJudgedAsApplied(t *testing.T) {
	policies, err := os.ReadFile("testdata/deployments/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sets, _ := filepath.Glob(filepath.Join(argoDeployments, "*", "entry.json"))
	if len(sets) == 0 {
		t.Skip("no recorded deployments at " + argoDeployments + " to compare with")
	}
	testall.Long(t)
	charts, err := store.OpenDirectory(filepath.Join(argoDeployments, "../charts/argocd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		dir := filepath.Dir(set)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			scan := func(tree scanner.Tree, c config.Config) *report.Report {
				return mustScan(t, scanner.Input{Head: tree, Config: c, Extra: []scanner.Extra{{Name: "policies.yaml", FS: fstest.MapFS{"policies.yaml": {Data: policies}}}}})
			}
			got := scan(scanner.Tree{FS: overlay.WithCharts(os.DirFS(clone(t, dir)), charts)}, argoConfig(t, set))
			tree := recorded(t, dir)
			unjudged := map[string]bool{} // not judged as a whole
			for _, i := range got.Indeterminate {
				if i.What == string(render.GapLacking) { // nothing of the unit is recorded
					got.Findings = slices.DeleteFunc(got.Findings, func(f report.Finding) bool { return f.Root == i.Root })
				}
				if unit, _, _ := strings.Cut(i.Root, " "); i.Object == nil && i.What == "root" {
					unjudged[unit] = true
					delete(tree, strings.ReplaceAll(unit, "/", "__")+"/objects.yaml")
				}
			}
			createdNamespaces(t, dir, tree, unjudged)
			want := scan(scanner.Tree{FS: tree}, config.Config{Unclaimed: config.UnclaimedJudge})
			deployed, plain := comparable(findingsOf(got), findingsOf(want), want), comparable(findingsOf(want), findingsOf(got), got)
			deployed, plain = slices.Compact(deployed), slices.Compact(plain)
			if all := len(slices.Compact(findingsOf(want))); len(plain) < all*98/100 {
				t.Errorf("only %d of %d findings can be compared", len(plain), all)
			}
			if diff := cmp.Diff(plain, deployed, cmp.AllowUnexported(finding{})); diff != "" {
				t.Errorf("findings (-of the recorded objects +of the repository):\n%s", diff)
			}
			t.Logf("%d findings of %d requests; recorded: %d of %d", len(deployed), got.Summary.Requests, len(plain), want.Summary.Requests)
		})
	}
}

// createdNamespaces adds the Namespaces that syncs create to a tree of recorded objects, unless it has them
// already.
func createdNamespaces(t *testing.T, dir string, tree fstest.MapFS, unjudged map[string]bool) {
	t.Helper()
	var units []struct {
		ID              string
		CreateNamespace *struct{ Object map[string]any }
	}
	data, err := os.ReadFile(filepath.Join(dir, "expected", "units.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &units); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range tree {
		all.Write(f.Data)
		all.WriteString("\n---\n")
	}
	has := map[string]bool{"default": true, "kube-system": true}
	for document := range strings.SplitSeq(all.String(), "\n---\n") {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if yaml.Unmarshal([]byte(document), &o) == nil && o.Kind == "Namespace" {
			has[o.Metadata.Name] = true
		}
	}
	var out bytes.Buffer
	for _, u := range units {
		if u.CreateNamespace == nil || unjudged[u.ID] {
			continue
		}
		metadata, _ := u.CreateNamespace.Object["metadata"].(map[string]any)
		if name, _ := metadata["name"].(string); !has[name] {
			has[name] = true
			object, err := yaml.Marshal(u.CreateNamespace.Object)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("---\n")
			out.Write(object)
		}
	}
	if out.Len() > 0 {
		tree["namespaces/objects.yaml"] = &fstest.MapFile{Data: out.Bytes()}
	}
}

// argoConfig returns the configuration of Argo CD in entry.json of a repository.
func argoConfig(t *testing.T, set string) config.Config {
	t.Helper()
	var entry struct {
		RepoURLs, Revisions, APIVersions []string
		ArgocdNamespace, KubeVersion     string
		KustomizeBuildOptions            string
		Clusters                         []config.ArgoCluster
		Entries                          []struct {
			Path     string
			Manifest map[string]any
		}
	}
	data, err := os.ReadFile(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		t.Fatal(err)
	}
	c := config.Config{Self: entry.RepoURLs, ArgoCD: &config.ArgoCD{
		Namespace: entry.ArgocdNamespace, KustomizeBuildOptions: entry.KustomizeBuildOptions, Tracking: "none",
		KubeVersion: entry.KubeVersion, APIVersions: entry.APIVersions, Clusters: entry.Clusters,
	}}
	for _, r := range entry.Revisions {
		if r != "" {
			c.ArgoCD.Revisions = append(c.ArgoCD.Revisions, r)
		}
	}
	for _, e := range entry.Entries {
		if e.Manifest != nil {
			c.ArgoCD.Applications = append(c.ArgoCD.Applications, e.Manifest)
		} else {
			c.Entries = append(c.Entries, path.Clean(e.Path))
		}
	}
	return c
}

func clone(t *testing.T, dir string) string {
	t.Helper()
	work := t.TempDir()
	if out, err := exec.Command("git", "clone", "-q", "-b", "head", filepath.Join(dir, "repo.bundle"), work).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return work
}

func entriesOf(t *testing.T, set string) (dirs []string) {
	t.Helper()
	var entry struct{ Entries []struct{ Path string } }
	data, err := os.ReadFile(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		t.Fatal(err)
	}
	for _, e := range entry.Entries {
		dirs = append(dirs, path.Clean(e.Path))
	}
	return dirs
}

// recorded returns a tree with a directory of objects for each unit.
func recorded(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "expected", "*__*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded objects: %v", err)
	}
	tree := fstest.MapFS{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		unit, part := strings.TrimSuffix(filepath.Base(file), ".yaml"), "objects"
		for _, other := range []string{"hooks", "crds"} {
			if name, ok := strings.CutSuffix(unit, "."+other); ok {
				unit, part = name, other
			}
		}
		if part == "hooks" {
			data = appliedHooks(t, data)
		}
		tree[unit+"/"+part+".yaml"] = &fstest.MapFile{Data: data}
	}
	return tree
}

// appliedHooks returns the recorded hooks that the installation of a release applies.
func appliedHooks(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for document := range strings.SplitSeq("\n"+string(data), "\n---\n") {
		var hook struct {
			Events []string       `json:"events"`
			Object map[string]any `json:"object"`
		}
		if err := yaml.Unmarshal([]byte(document), &hook); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(hook.Events, "pre-install") && !slices.Contains(hook.Events, "post-install") {
			continue
		}
		object, err := yaml.Marshal(hook.Object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(object)
	}
	return out.Bytes()
}

// finding is a finding of a policy and its object.
type finding struct{ object, text string }

// findingsOf returns the findings of policies in a report, except those about CustomResourceDefinitions: the
// records have only digests of large ones.
func findingsOf(r *report.Report) []finding {
	var all []finding
	for _, f := range r.Findings {
		if f.Object != nil && f.Policy != "" && f.Object.Kind != "CustomResourceDefinition" {
			all = append(all, finding{nameOf(f.Object), f.Policy + " " + nameOf(f.Object) + ": " + f.Message})
		}
	}
	slices.SortFunc(all, func(a, b finding) int { return strings.Compare(a.text, b.text) })
	return all
}

func nameOf(o *report.Object) string { return o.Kind + " " + o.Namespace + "/" + o.Name }

// comparable omits findings that another report lacks because it has no verdict on their objects: a value is
// random or encrypted, or the records have no definition of a kind.
func comparable(findings, others []finding, other *report.Report) []finding {
	open := map[string]bool{}
	for _, i := range other.Indeterminate {
		if i.Object != nil {
			open[nameOf(i.Object)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f finding) bool { return open[f.object] && !slices.Contains(others, f) })
}
