package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/cputime"
)

// BenchmarkScanArgoCD scans a repository of 300 Applications: all of it, and a branch that changes one
// Application, with a cache that another scan has filled.
func BenchmarkScanArgoCD(b *testing.B) {
	dir := writeDeployed(b, 300, func(write func(name, text string)) { writeApplications(write, 300) }, 1)
	b.Chdir(dir)
	cache := b.TempDir()
	scan := func(b *testing.B, want int, args ...string) {
		code := Main(b.Context(), append([]string{"scan", "--format", "json"}, args...), cli.Process{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr, Getenv: func(string) string { return "" },
		})
		if code != want {
			b.Fatalf("exit code %d, want %d", code, want)
		}
	}
	measure := func(name string, want int, args ...string) {
		b.Run(name, func(b *testing.B) {
			before := cputime.Used()
			for b.Loop() {
				scan(b, want, args...)
			}
			b.ReportMetric((cputime.Used()-before).Seconds()*float64(time.Second/time.Millisecond)/float64(b.N), "cpu-ms/op")
		})
	}
	measure("whole", cli.ExitClean, ".")
	scan(b, cli.ExitFindings, "--base", "main", "--head", "change-1", "--cache-dir", cache)
	measure("changed", cli.ExitFindings, "--base", "main", "--head", "change-1", "--cache-dir", cache)
}

// writeApplications writes Applications for overlays, a project, and one Application that applies
// all of them.
func writeApplications(write func(name, text string), n int) {
	const header = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\n" +
		"spec:\n  project: %s\n  source: {repoURL: 'https://git.example.com/fleet', path: %s}\n  destination: {server: 'https://kubernetes.default.svc', namespace: %s}\n"
	write(".preadmit.yaml", "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nself: ['https://git.example.com/fleet']\n")
	write("root.yaml", fmt.Sprintf(header, "apps", "default", "argocd", "argocd"))
	write("argocd/project.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: teams, namespace: argocd}\n"+
		"spec:\n  sourceRepos: ['*']\n  destinations: [{server: '*', namespace: 'team-*'}]\n  clusterResourceWhitelist: [{group: '', kind: Namespace}]\n")
	write("argocd/policies.yaml", fmt.Sprintf(header, "policies", "default", "policies", "argocd"))
	for i := range n {
		name := fmt.Sprintf("app-%d", i)
		write("argocd/"+name+".yaml", fmt.Sprintf(header, name, "teams", "apps/"+name+"/overlays/prod", fmt.Sprintf("team-%d", i))+
			"  syncPolicy: {automated: {prune: true}, syncOptions: [CreateNamespace=true]}\n")
	}
}
