package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/outside"
)

// chartOf returns the archive of a chart with a ConfigMap.
func chartOf(t *testing.T, name, version string) []byte {
	t.Helper()
	return archiveOf(t, name, version, map[string]string{
		"templates/cm.yaml": fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-%s\ndata:\n  chart: %s-%s\n", name, name, version),
	})
}

// archiveOf returns the archive of a chart with these files, besides Chart.yaml.
func archiveOf(t *testing.T, name, version string, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	files["Chart.yaml"] = fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)
	for file, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	_ = zipped.Close()
	return b.Bytes()
}

// TestFetchCharts: charts of HelmReleases from all kinds of sources, and the dependencies of a
// chart in a directory, are locked and rendered from the lock.
func TestFetchCharts(t *testing.T) {
	world := outside.New()
	for _, version := range []string{"1.2.0", "1.3.0", "1.4.0-rc.1", "2.0.0"} {
		if err := world.AddChart("https://charts.example.com/stable", "web", version, chartOf(t, "web", version)); err != nil {
			t.Fatal(err)
		}
	}
	world.AddOCI("registry.example.com", "charts/api", "2.0.0", outside.ChartLayer, chartOf(t, "api", "2.0.0"))
	root := t.TempDir()
	wrapper := "apiVersion: v2\nname: wrap\nversion: 0.1.0\ndependencies:\n- {name: web, version: ^1.2.0, repository: https://charts.example.com/stable}\n- {name: side, version: 0.1.0, repository: file://../side}\n"
	h, err := gittest.NewHistory(filepath.Join(root, "org", "charts"), map[string]string{
		"charts/wrap/Chart.yaml":            wrapper,
		"charts/side/Chart.yaml":            "apiVersion: v2\nname: side\nversion: 0.1.0\n",
		"charts/side/templates/secret.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: side}\n",
	}, map[string]string{"a": "b"}, map[string]string{"c": "d"})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := gittest.Backend(root)
	if err != nil {
		t.Fatal(err)
	}
	world.AddGit("git.example.com", backend)
	if err := world.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	work, kept, ca := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, world.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	own := &gittest.History{Dir: work}
	if _, err := own.Git("init", "-q", "-b", "main", work); err != nil {
		t.Fatal(err)
	}
	object := func(kind, name, spec string) string {
		group := map[bool]string{true: "helm.toolkit.fluxcd.io/v2", false: "source.toolkit.fluxcd.io/v1"}[kind == "HelmRelease"]
		return fmt.Sprintf("---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: apps}\nspec: %s\n", group, kind, name, spec)
	}
	if _, err := own.Commit(map[string]string{
		"clusters/one/flux-system/gotk-sync.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec:\n  path: ./clusters/one\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n",
		"clusters/one/apps.yaml": object("HelmRepository", "stable", "{url: 'https://charts.example.com/stable'}") +
			object("HelmRelease", "web", "{chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: stable}}}}") +
			object("OCIRepository", "api", "{url: 'oci://registry.example.com/charts/api', ref: {tag: 2.0.0}}") +
			object("HelmRelease", "api", "{chartRef: {kind: OCIRepository, name: api}}") +
			object("GitRepository", "charts", "{url: 'https://git.example.com/org/charts', ref: {commit: "+h.Before+"}}") +
			object("HelmRelease", "wrap", "{chart: {spec: {chart: ./charts/wrap, sourceRef: {kind: GitRepository, name: charts}}}}"),
	}); err != nil {
		t.Fatal(err)
	}
	run := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		p := cli.Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Dial: world.Dial}
		if got := Main(t.Context(), append(args, "--artifact-dir", kept), p); got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", args[0], got, code, out.String())
		}
		return out.String()
	}
	has(t, run(0, "fetch", "--ca-file", ca, work),
		"locked chart https://charts.example.com/stable, name web, version 1.x: 1.3.0",
		"locked chart https://charts.example.com/stable, name web, version ^1.2.0: 1.3.0",
		"locked chart oci://registry.example.com/charts, name api, version 2.0.0: 2.0.0",
		"locked git https://git.example.com/org/charts, version "+h.Before, "4 artifacts, 0 failed")
	has(t, run(0, "fetch", "--check", "--ca-file", ca, work), "4 artifacts, 0 not as locked")
	asked := len(world.Requests())
	has(t, run(0, "render", "--tree", work, "HelmRelease/apps/web"), "name: web-web", "chart: web-1.3.0")
	has(t, run(0, "render", "--tree", work, "HelmRelease/apps/api"), "chart: api-2.0.0")
	has(t, run(0, "render", "--tree", work, "HelmRelease/apps/wrap"), "name: wrap-web", "chart: web-1.3.0", "name: side")
	has(t, run(0, "render", "--tree", work, "--field", "data.chart", "--object", "ConfigMap/wrap-web", "HelmRelease/apps/wrap"), "clusters/one/apps.yaml:")
	if out := run(0, "scan", "--offline", work); strings.Contains(out, "ot judged") {
		t.Errorf("with all that is asked for the scan says:\n%s", out)
	}
	if now := len(world.Requests()); now != asked {
		t.Errorf("%d requests were made without fetching", now-asked)
	}
}
