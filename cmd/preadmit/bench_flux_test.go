package main

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// BenchmarkScanFlux scans a branch that changes one of 200 overlays, in whole processes as for a
// pull request. The overlays are scanned alternately as directories and as applied by 200 Flux
// Kustomizations. cpu-ratio is the ratio of their processor times.
func BenchmarkScanFlux(b *testing.B) {
	const units = 200
	policies := func(write func(name, text string)) {
		write("policies/kustomization.yaml", "resources: [policies.yaml]\n")
	}
	binary := buildProgram(b)
	plain := writeDeployed(b, units, policies, 1)
	flux := writeDeployed(b, units, func(write func(name, text string)) { policies(write); writeCluster(write, units) }, 1)
	var wall, cpu [2]time.Duration
	for b.Loop() {
		for i, dir := range []string{plain, flux} {
			cmd := exec.Command(binary, "scan", "--base", "main", "--head", "change-1", "--format", "json")
			cmd.Dir = dir
			start := time.Now()
			if err := cmd.Run(); cmd.ProcessState.ExitCode() != cli.ExitFindings {
				b.Fatalf("%v, want exit code %d", err, cli.ExitFindings)
			}
			wall[i] += time.Since(start)
			cpu[i] += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
	}
	b.ReportMetric(wall[0].Seconds()*1000/float64(b.N), "plain-ms")
	b.ReportMetric(wall[1].Seconds()*1000/float64(b.N), "flux-ms")
	b.ReportMetric(wall[1].Seconds()/wall[0].Seconds(), "ratio")
	b.ReportMetric(cpu[1].Seconds()/cpu[0].Seconds(), "cpu-ratio")
}

// writeCluster writes a cluster of Flux Kustomizations that share a ConfigMap with variables.
func writeCluster(write func(name, text string), units int) {
	const header = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n" +
		"spec:\n  interval: 10m\n  path: %s\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
	write("clusters/prod/flux-system/gotk-sync.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n"+
		"spec: {interval: 1m, url: 'https://example.com/fleet'}\n---\n"+fmt.Sprintf(header, "flux-system", "./clusters/prod"))
	write("clusters/prod/policies.yaml", fmt.Sprintf(header, "policies", "./policies"))
	write("clusters/prod/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {CLUSTER: prod}\n")
	for n := range units {
		write(fmt.Sprintf("clusters/prod/app-%d.yaml", n), fmt.Sprintf(header, fmt.Sprintf("app-%d", n), fmt.Sprintf("./apps/app-%d/overlays/prod", n))+
			fmt.Sprintf("  targetNamespace: team-%d\n  postBuild:\n    substitute: {TEAM: team-%d}\n    substituteFrom: [{kind: ConfigMap, name: settings}]\n", n, n))
	}
}
