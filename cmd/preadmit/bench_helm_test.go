package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/cputime"
)

// BenchmarkScanHelm alternately scans a cluster with new HelmReleases of real charts, whose workloads have
// findings, and the same cluster without them. beyond-ms and beyond-cpu-ms are the differences in time and
// processor time. PREADMIT_CHARTS names a directory of archives with an index.json, as for --artifacts.
func BenchmarkScanHelm(b *testing.B) {
	artifacts := os.Getenv("PREADMIT_CHARTS")
	if artifacts == "" {
		artifacts = filepath.Join("..", "..", "..", "shared", "deployments", "charts", "flux")
	}
	artifacts, err := filepath.Abs(artifacts)
	var index []byte
	if err == nil {
		index, err = os.ReadFile(filepath.Join(artifacts, "index.json"))
	}
	if err != nil {
		b.Skipf("%v: set PREADMIT_CHARTS to scan releases of real charts", err)
	}
	const app = "    controllers: {main: {replicas: 9, containers: {main: {image: {repository: example.com/web, tag: '1'}}}}}\n" +
		"    service: {main: {controller: main, ports: {http: {port: 80}}}}\n"
	for _, c := range []struct {
		name, url, chart, version, values string
		releases                          int
	}{
		{"app-template", "oci://ghcr.io/bjw-s/helm", "app-template", "3.5.1", app, 1},
		{"app-template-100", "oci://ghcr.io/bjw-s/helm", "app-template", "3.5.1", app, 100},
		{"kube-prometheus-stack", "https://prometheus-community.github.io/helm-charts", "kube-prometheus-stack", "65.1.1", "    grafana: {replicas: 9}\n", 1},
		{"kyverno", "https://kyverno.github.io/kyverno", "kyverno", "*", "    admissionController: {replicas: 9}\n", 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			if !strings.Contains(string(index), `"`+c.chart+`"`) {
				b.Skipf("there is no chart %s in %s", c.chart, artifacts)
			}
			with, without, empty := b.TempDir(), b.TempDir(), b.TempDir()
			writeReleases(b, without, c.url, "")
			var all strings.Builder
			for i := range c.releases {
				fmt.Fprintf(&all, "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web-%d, namespace: apps}\n"+
					"spec:\n  interval: 1h\n  chart: {spec: {chart: %s, version: '%s', sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}\n  values:\n%s",
					i, c.chart, c.version, c.values)
			}
			writeReleases(b, with, c.url, all.String())
			var spent, took [2]time.Duration
			for b.Loop() {
				for i, dir := range []string{without, with} {
					before, begun := cputime.Used(), time.Now()
					code := Main(b.Context(), []string{"scan", "--artifacts", artifacts, "--base-path", empty, dir, "--format", "json"}, cli.Process{
						Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr, Getenv: func(string) string { return "" },
					})
					if want := []int{0, cli.ExitFindings}[i]; code != want {
						b.Fatalf("exit code %d, want %d", code, want)
					}
					spent[i] += cputime.Used() - before
					took[i] += time.Since(begun)
				}
			}
			b.ReportMetric(spent[1].Seconds()*1000/float64(b.N), "cpu-ms")
			b.ReportMetric((took[1]-took[0]).Seconds()*1000/float64(b.N), "beyond-ms")
			b.ReportMetric((spent[1]-spent[0]).Seconds()*1000/float64(b.N), "beyond-cpu-ms")
		})
	}
}

// writeReleases writes a cluster of Flux with releases, and a policy that workloads fail twice.
func writeReleases(b *testing.B, dir, url, releases string) {
	b.Helper()
	kind := ""
	if strings.HasPrefix(url, "oci:") {
		kind = ", type: oci"
	}
	for name, text := range map[string]string{
		"flux.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\n" +
			"spec: {path: ./apps, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}\n---\n" +
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: 'https://example.com/fleet', interval: 1h}\n---\n" +
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: flux-system}\nspec: {url: '" + url + "', interval: 1h" + kind + "}\n" + releases,
		"policy.yaml": "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n" +
			"  matchConstraints: {resourceRules: [{apiGroups: [apps, batch], apiVersions: ['*'], operations: [CREATE], resources: [deployments, statefulsets, daemonsets, jobs]}]}\n" +
			"  validations:\n  - expression: object.spec.?replicas.orValue(1) < 5\n  - expression: object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))\n" +
			"  - expression: object.spec.template.spec.containers.all(c, c.?resources.?limits.hasValue())\n---\n" +
			"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: p}\nspec: {policyName: p, validationActions: [Deny]}\n",
	} {
		file := filepath.Join(dir, "apps", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
