package chart

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// definitions has the modules that publish the custom kinds of the chart, with the files of
// their CustomResourceDefinitions.
func definitions() map[string]string {
	return map[string]string{
		"sigs.k8s.io/gateway-api@v1.4.0":                             "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
		"github.com/prometheus-operator/prometheus-operator@v0.85.0": "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
	}
}

// TestCustomKinds: preadmit judges the HTTPRoute and the ServiceMonitor by their own
// definitions, and refuses invalid ones.
func TestCustomKinds(t *testing.T) {
	args := []string{"scan", "--format", "json"}
	for module, file := range definitions() {
		args = append(args, "--context", filepath.Join(download(t, module), filepath.FromSlash(file)))
	}
	preadmit := build(t)
	manifests, _, err := Render(chartDir(), readValues(t, filepath.Join("..", "..", "deploy", "testdata", "chart", "routes.values.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ by, old, new, tells string }{
		{"flux", "", "", ""},
		{"flux", "type: PathPrefix", "type: Prefix", `Unsupported value: "Prefix"`},
		{"flux", "interval: 1m", "interval: often", "spec.endpoints[0].interval"},
		{"flux", "endpoints:", "endpoint:", ".spec.endpoint: field not declared in schema"},
		{"argocd", "endpoints:", "endpoint:", "spec.endpoints: Required value"},
	}
	for _, test := range tests {
		if !strings.Contains(manifests, test.old) {
			t.Fatalf("the chart renders no %q", test.old)
		}
		dir := t.TempDir()
		text := strings.Replace(manifests, test.old, test.new, 1)
		if err := os.WriteFile(filepath.Join(dir, "manifests.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		found := scan(t, preadmit, append(slices.Clone(args), "--applier", test.by, dir))
		if test.tells == "" && len(found) != 0 || test.tells != "" && !strings.Contains(strings.Join(found, "\n"), test.tells) {
			t.Errorf("%s by %s: found %q, want %q", test.new, test.by, found, test.tells)
		}
	}
}

// scan runs preadmit and returns the findings, and what it could not judge.
func scan(t *testing.T, preadmit string, args []string) []string {
	t.Helper()
	out, err := exec.Command(preadmit, args...).Output()
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
		t.Fatalf("%v: %s", err, out)
	}
	var report struct {
		Findings      []struct{ Message string }
		Indeterminate []struct{ Why string }
		Summary       struct{ Requests int }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, f.Message)
	}
	for _, i := range report.Indeterminate {
		found = append(found, "not judged: "+i.Why)
	}
	if report.Summary.Requests < 8 {
		t.Errorf("only %d requests", report.Summary.Requests)
	}
	return found
}

// build builds the program of this repository.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "preadmit")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./cmd/preadmit")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build preadmit: %v\n%s", err, out)
	}
	return program
}

// download returns the directory of a module. Without a network, it skips the test.
func download(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var got struct{ Dir string }
	if err != nil || json.Unmarshal(out, &got) != nil || got.Dir == "" {
		t.Skipf("%s cannot be downloaded: %v %s", module, err, out)
	}
	return got.Dir
}
