package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

var keep = flag.String("keep", "", "write the input of BenchmarkScan1000x20 to this `directory` and leave it there")

// BenchmarkScan1000x20 runs the whole process, from start to the written report: 1000
// Deployments in plain YAML and 20 policies with 5 validations each, all bound with Deny.
// A few validations fail.
func BenchmarkScan1000x20(b *testing.B) {
	binary, dir := buildProgram(b), writeScan1000x20(b)
	peak := int64(0)
	for b.Loop() {
		cmd := exec.Command(binary, "scan", "--format", "json", dir)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		exit := new(exec.ExitError)
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitFindings {
			b.Fatalf("%v, want exit code %d\n%s", err, cli.ExitFindings, &stderr)
		}
		if !strings.Contains(stdout.String(), `"evaluations": 100000`) {
			b.Fatalf("want 100000 evaluations in the summary:\n%s", tail(stdout.String(), 2000))
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = max(peak, usage.Maxrss) // KiB on Linux
		}
	}
	b.ReportMetric(float64(peak)/1024, "peak-MB")
}

// BenchmarkScan1000x20InProcess does the same work in this process, for profiling with
// -cpuprofile, and with -memprofile and -memprofilerate.
func BenchmarkScan1000x20InProcess(b *testing.B) {
	dir := writeScan1000x20(b)
	for b.Loop() {
		code := Main(b.Context(), []string{"scan", "--format", "json", dir}, cli.Process{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr, Getenv: func(string) string { return "" },
		})
		if code != cli.ExitFindings {
			b.Fatalf("exit code %d, want %d", code, cli.ExitFindings)
		}
	}
}

func buildProgram(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "preadmit")
	// Without flags, so that the packages compiled for the tests are reused.
	build := exec.Command("go", "build", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// writeScan1000x20 writes the benchmark's repository: ten directories of 100
// Deployments, and one of policies.
func writeScan1000x20(b *testing.B) (dir string) {
	b.Helper()
	if dir = *keep; dir == "" {
		dir = b.TempDir()
	}
	files := map[string]string{"policies/policies.yaml": benchPolicies()}
	for i := range 10 {
		var text strings.Builder
		for j := range 100 {
			writeDeployment(&text, i*100+j)
		}
		files[fmt.Sprintf("apps/team-%d/deployments.yaml", i)] = text.String()
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// writeDeployment writes a typical Deployment with two containers. Every hundredth has an
// image without a fixed tag, every two hundredth no limits.
func writeDeployment(b *strings.Builder, n int) {
	tag := fmt.Sprintf("1.%d.%d", n%20, n%7)
	if n%100 == 50 {
		tag = "latest"
	}
	limits := "\n          limits: {cpu: 500m, memory: 256Mi}"
	if n%200 == 75 {
		limits = ""
	}
	fmt.Fprintf(b, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-%[1]d
  namespace: team-%[2]d
  labels: {app: service-%[1]d, team: team-%[2]d, tier: backend}
  annotations: {example.com/owner: team-%[2]d@example.com, example.com/runbook: "https://runbooks.example.com/%[1]d"}
spec:
  replicas: %[3]d
  revisionHistoryLimit: 5
  selector: {matchLabels: {app: service-%[1]d}}
  template:
    metadata:
      labels: {app: service-%[1]d, team: team-%[2]d, tier: backend}
    spec:
      serviceAccountName: service-%[1]d
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: main
        image: registry.example.com/team-%[2]d/service-%[1]d:%[4]s
        imagePullPolicy: IfNotPresent
        ports:
        - {name: http, containerPort: 8080}
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: SERVICE, value: service-%[1]d}
        resources:
          requests: {cpu: 100m, memory: 128Mi}%[5]s
        readinessProbe: {httpGet: {path: /ready, port: http}}
        livenessProbe: {httpGet: {path: /live, port: http}}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      - name: proxy
        image: registry.example.com/platform/proxy:2.4.1
        resources:
          requests: {cpu: 10m, memory: 32Mi}
          limits: {cpu: 100m, memory: 64Mi}
        readinessProbe: {tcpSocket: {port: 15020}}
        livenessProbe: {tcpSocket: {port: 15020}}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
---
`, n, n/100, 2+n%4, tag, limits)
}

// benchPolicies returns 20 policies: 4 copies of 5 themes with different thresholds, so that
// no two expressions are equal.
func benchPolicies() string {
	var b strings.Builder
	for n := range 20 {
		fmt.Fprintf(&b, `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: policy-%[1]d.example.com}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations:
`, n)
		for i, expression := range benchTheme(n%5, n/5) {
			fmt.Fprintf(&b, "  - expression: >-\n      %s\n    message: rule %d of policy %d\n", expression, i, n)
		}
		fmt.Fprintf(&b, `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: policy-%[1]d}
spec: {policyName: policy-%[1]d.example.com, validationActions: [Deny]}
---
`, n)
	}
	return b.String()
}

// benchTheme returns the 5 validations of a policy.
func benchTheme(theme, n int) []string {
	const containers = "object.spec.template.spec.containers"
	switch theme {
	case 0: // replicas and rollout
		return []string{
			fmt.Sprintf("object.spec.replicas <= %d", 50+n),
			fmt.Sprintf("object.spec.replicas >= 1 || object.metadata.name == 'cron-%d'", n),
			fmt.Sprintf("!has(object.spec.revisionHistoryLimit) || object.spec.revisionHistoryLimit <= %d", 10+n),
			fmt.Sprintf("object.spec.strategy.type == 'RollingUpdate' || object.spec.replicas < %d", 2+n),
			fmt.Sprintf("object.spec.progressDeadlineSeconds >= %d", 60+n),
		}
	case 1: // labels
		return []string{
			fmt.Sprintf("['app', 'team', 'tier'].all(l, l in object.metadata.labels) || object.metadata.name == 'x%d'", n),
			fmt.Sprintf("object.metadata.labels.all(k, object.metadata.labels[k].size() <= %d)", 60+n),
			fmt.Sprintf("object.metadata.labels['team'] == object.metadata.namespace || 'shared-%d' in object.metadata.labels", n),
			fmt.Sprintf("object.spec.selector.matchLabels.all(k, k in object.spec.template.metadata.labels) || %d < 0", n),
			fmt.Sprintf("object.metadata.annotations.exists(k, k.startsWith('example.com/')) || %d < 0", n),
		}
	case 2: // images
		return []string{
			fmt.Sprintf("%s.all(c, c.image.startsWith('registry.example.com/') || c.name == 'x%d')", containers, n),
			fmt.Sprintf("%s.all(c, !c.image.endsWith(':latest') || c.name == 'x%d')", containers, n),
			fmt.Sprintf("%s.all(c, c.image.contains(':') && c.image.size() < %d)", containers, 200+n),
			fmt.Sprintf("%s.size() <= %d", containers, 8+n),
			fmt.Sprintf("%s.all(c, c.imagePullPolicy in ['IfNotPresent', 'Always', 'x%d'])", containers, n),
		}
	case 3: // resources
		return []string{
			fmt.Sprintf("%s.all(c, has(c.resources.requests) && 'cpu' in c.resources.requests || c.name == 'x%d')", containers, n),
			fmt.Sprintf("%s.all(c, has(c.resources.limits) && 'memory' in c.resources.limits || c.name == 'x%d')", containers, n),
			fmt.Sprintf("%s.all(c, !has(c.resources.limits) || quantity(c.resources.limits['memory']).isLessThan(quantity('%dGi')))", containers, 8+n),
			fmt.Sprintf("%s.all(c, quantity(c.resources.requests['cpu']).isLessThan(quantity('%d')))", containers, 2+n),
			fmt.Sprintf("%s.all(c, c.name.size() < %d)", containers, 63+n),
		}
	}
	return []string{ // probes and security contexts
		fmt.Sprintf("%s.all(c, has(c.readinessProbe) && has(c.livenessProbe) || c.name == 'x%d')", containers, n),
		fmt.Sprintf("%s.all(c, has(c.securityContext) && c.securityContext.allowPrivilegeEscalation == false || c.name == 'x%d')", containers, n),
		fmt.Sprintf("%s.all(c, has(c.securityContext.capabilities) && 'ALL' in c.securityContext.capabilities.drop || c.name == 'x%d')", containers, n),
		fmt.Sprintf("object.spec.template.spec.securityContext.runAsNonRoot == true || object.metadata.name == 'x%d'", n),
		fmt.Sprintf("!has(object.spec.template.spec.hostNetwork) || object.spec.template.spec.hostNetwork == false || %d < 0", n),
	}
}
