package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/outside"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
)

// deployments is the directory of public repositories with the charts that they need.
const deployments = "../../../shared/deployments"

// deployedWorld serves all charts of the recorded deployments under their real names.
func deployedWorld(t *testing.T, set string) *outside.World {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployments, "charts", set, "index.json"))
	if err != nil {
		t.Skip("no recorded deployments at " + deployments)
	}
	var index []struct{ Source, Name, Version, RequestedVersion, File string }
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	w := outside.New()
	exact := regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+`)
	for _, c := range index {
		archive, err := os.ReadFile(filepath.Join(deployments, "charts", set, c.File))
		if err != nil {
			t.Fatal(err)
		}
		version := c.Version
		if exact.MatchString(c.RequestedVersion) { // the archive may have another version
			version = c.RequestedVersion
		}
		// The URL of a registry may end with the name of the chart.
		at := strings.TrimSuffix(c.Source, "/")
		if strings.HasPrefix(at, "oci://") {
			at = strings.TrimSuffix(at, "/"+c.Name)
		}
		if err := w.AddChart(at, c.Name, version, archive); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// TestFetchDeployments fetches and scans fresh clones of public repositories, with all
// artifacts that they need served under their real names.
func TestFetchDeployments(t *testing.T) {
	names := map[string]string{"flux": "fluxcd-flux2-kustomize-helm-example", "argocd": "synthetic-garden"}
	if os.Getenv("PREADMIT_TEST_DEPLOYMENTS") == "1" { // takes minutes
		names = map[string]string{"flux": "*", "argocd": "*"}
	}
	testall.Long(t)
	for deployer, name := range names {
		sets, _ := filepath.Glob(filepath.Join(deployments, deployer, name, "repo.bundle"))
		if len(sets) == 0 {
			t.Skip("no recorded deployments at " + deployments)
		}
		fetchDeployments(t, deployedWorld(t, deployer), sets)
	}
}

// refused is the number of objects of a repository that every server refuses, such as claims
// without access modes and containers with the name true. least is the minimum number of objects:
// the recorded number without hooks that no sync runs.
var (
	refused = map[string]int{"operate-first-apps": 19, "synthetic-garden": 8, "ricsanfre-pi-cluster": 1}
	least   = map[string]int{
		"bjw-s-home-ops": 1141, "fluxcd-flux2-kustomize-helm-example": 224, "ricsanfre-pi-cluster": 1206,
		"argocd-example-apps": 68, "khuedoan-homelab": 162, "many-appsets-demo": 27, "operate-first-apps": 905, "synthetic-garden": 96,
	}
)

// configured has the configuration for a repository of Argo CD that the repository itself lacks.
func configured(t *testing.T, set string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(set, "entry.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entry struct {
		RepoURLs, Revisions, APIVersions   []string
		KubeVersion, KustomizeBuildOptions string
		Entries                            []struct {
			Path     string
			Manifest map[string]any
		}
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		t.Fatal(err)
	}
	known := map[string]any{
		"revisions": entry.Revisions, "apiVersions": entry.APIVersions, "kubeVersion": entry.KubeVersion, "clusters": []any{},
		"kustomizeBuildOptions": entry.KustomizeBuildOptions,
	}
	out := map[string]any{"apiVersion": "preadmit.dev/v1alpha1", "kind": "ScanConfig", "self": entry.RepoURLs, "argocd": known}
	var paths []string
	var objects []map[string]any
	for _, e := range entry.Entries {
		if e.Manifest != nil {
			objects = append(objects, e.Manifest)
		} else {
			paths = append(paths, e.Path)
		}
	}
	if known["applications"] = objects; objects == nil {
		delete(known, "applications")
		out["entries"] = paths
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fetchDeployments fetches and scans the repositories of a deployer.
func fetchDeployments(t *testing.T, world *outside.World, sets []string) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, world.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bundle := range sets {
		t.Run(filepath.Base(filepath.Dir(bundle)), func(t *testing.T) {
			work, kept := t.TempDir(), t.TempDir()
			if out, err := exec.Command("git", "clone", "-q", "-b", "head", bundle, work).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if set := filepath.Dir(bundle); strings.Contains(set, "/argocd/") {
				if err := os.WriteFile(filepath.Join(work, ".preadmit.yaml"), configured(t, set), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run := func(args ...string) []byte {
				var out, messages bytes.Buffer
				p := cli.Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &messages, Getenv: func(string) string { return "" }, Dial: world.Dial}
				start := time.Now()
				code := Main(t.Context(), append(args, "--artifact-dir", kept), p)
				t.Logf("%s: exit code %d after %s %s", args[0], code, time.Since(start), messages.String())
				return out.Bytes()
			}
			scan := func() *report.Report {
				r := &report.Report{}
				if err := json.Unmarshal(run("scan", "--offline", "--format", "json", work), r); err != nil {
					t.Fatal(err)
				}
				return r
			}
			before := scan()
			t.Logf("%s", run("fetch", "--ca-file", ca, work))
			asked := len(world.Requests())
			after := scan()
			if now := len(world.Requests()); now != asked {
				t.Errorf("scans made %d requests", now-asked)
			}
			t.Logf("coverage %+v, with what was fetched %+v", before.Summary.Coverage, after.Summary.Coverage)
			for _, f := range after.Findings { // there are no policies, so every server refuses these
				t.Logf("refused: %s", f.Message)
			}
			name := filepath.Base(filepath.Dir(bundle))
			if n := len(after.Findings); n != refused[name] {
				t.Errorf("%d findings, want %d", n, refused[name])
			}
			if c := after.Summary.Coverage; c.Exact*100 < c.Objects*95 || c.Objects < least[name] {
				t.Errorf("of %d objects %d are judged exactly, want at least %d", c.Objects, c.Exact, least[name])
			}
			for _, i := range after.Indeterminate {
				if i.Root != "" && i.Object == nil {
					t.Logf("%s: %s", i.Root, i.Why)
				}
			}
		})
	}
}
