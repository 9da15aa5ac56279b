package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// BenchmarkScanChanged runs the whole process on a git repository of 600 overlays, with
// branches that change some of them: time should grow with the change.
func BenchmarkScanChanged(b *testing.B) {
	binary := buildProgram(b)
	dir := writeOverlays(b, 600, 1, 10, 100)
	for _, changed := range []int{1, 10, 100} {
		benchScan(b, fmt.Sprintf("changed=%d", changed), binary, dir, changed)
	}
}

// BenchmarkScanRepository runs the whole process on git repositories of different sizes,
// with a branch that changes one overlay: with a warm cache, time should not grow with the
// repository, and without one only by the time to read it once.
func BenchmarkScanRepository(b *testing.B) {
	binary := buildProgram(b)
	for _, roots := range []int{100, 300, 600} {
		benchScan(b, fmt.Sprintf("roots=%d", roots), binary, writeOverlays(b, roots, 1), 1)
	}
}

// benchScan measures the scan of a branch that changes a number of roots, without a cache
// and with one that another branch has filled.
func benchScan(b *testing.B, name, binary, dir string, changed int) {
	b.Helper()
	scan := func(branch string, flags ...string) string {
		cmd := exec.Command(binary, append([]string{"scan", "--base", "main", "--head", branch, "--format", "json"}, flags...)...)
		cmd.Dir = dir
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if exit := new(exec.ExitError); errors.As(cmd.Run(), &exit) && exit.ExitCode() != cli.ExitFindings {
			b.Fatalf("%v\n%s", exit, &stderr)
		}
		return stdout.String()
	}
	branch := fmt.Sprintf("change-%d", changed)
	for _, cache := range []string{"none", "warm"} {
		b.Run(name+"/cache="+cache, func(b *testing.B) {
			var flags []string
			if cache == "warm" {
				flags = []string{"--cache-dir", b.TempDir()}
				scan("other", flags...)
			}
			for b.Loop() {
				if out := scan(branch, flags...); !strings.Contains(out, fmt.Sprintf(`"new": %d`, 4*changed)) {
					b.Fatalf("want %d new findings:\n%s", 4*changed, tail(out, 2000))
				}
				b.StopTimer()
				if cache == "warm" { // otherwise later runs would find the branch itself in the cache
					flags[1] = b.TempDir()
					scan("other", flags...)
				}
				b.StartTimer()
			}
		})
	}
}

// writeOverlays creates a git repository of applications, each with a base and an overlay,
// and of the policies of BenchmarkScan1000x20. For each N in changes, the branch change-N
// sets the tag latest in N overlays; the branch other changes one more.
func writeOverlays(b *testing.B, roots int, changes ...int) (dir string) {
	b.Helper()
	return writeDeployed(b, roots, func(func(name, text string)) {}, changes...)
}

// writeDeployed is writeOverlays with additional files.
func writeDeployed(b *testing.B, roots int, more func(write func(name, text string)), changes ...int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	write("policies/policies.yaml", benchPolicies())
	for n := range roots {
		writeApplication(write, n)
	}
	more(write)
	git("add", ".")
	git("commit", "-q", "-m", "base")
	branch := func(name, tag string, from, to int) {
		git("checkout", "-q", "-b", name, "main")
		for n := from; n < to; n++ {
			write(fmt.Sprintf("apps/app-%d/overlays/prod/kustomization.yaml", n), overlayText(n, tag))
		}
		git("commit", "-q", "-a", "-m", name)
	}
	for _, n := range changes {
		branch(fmt.Sprintf("change-%d", n), "latest", 0, n)
	}
	branch("other", "2.0.0", roots-1, roots)
	git("gc", "-q")
	return dir
}

// writeApplication writes a typical Deployment, Service and overlay.
func writeApplication(write func(name, text string), n int) {
	app := fmt.Sprintf("apps/app-%d/", n)
	var deployment strings.Builder
	writeDeployment(&deployment, n*100+1) // one that no policy denies
	write(app+"base/deployment.yaml", strings.TrimSuffix(deployment.String(), "---\n"))
	write(app+"base/service.yaml", fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: service-%[1]d, labels: {app: service-%[1]d}}
spec:
  selector: {app: service-%[1]d}
  ports: [{name: http, port: 80, targetPort: http}]
`, n*100+1))
	write(app+"base/kustomization.yaml", "resources: [deployment.yaml, service.yaml]\n")
	write(app+"overlays/prod/replicas.yaml", fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: service-%d, namespace: team-%d}
spec: {replicas: 4}
`, n*100+1, n))
	write(app+"overlays/prod/kustomization.yaml", overlayText(n, "1.2.3"))
}

func overlayText(n int, tag string) string {
	return fmt.Sprintf(`namespace: team-%[1]d
resources: [../../base]
patches:
- path: replicas.yaml
images:
- name: registry.example.com/team-%[1]d/service-%[2]d
  newTag: %[3]s
configMapGenerator:
- name: settings
  literals: [LOG_LEVEL=info]
`, n, n*100+1, tag)
}
