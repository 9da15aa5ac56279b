package chart

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what the chart renders to anew")

func chartDir() string { return filepath.Join("..", "..", "deploy", "chart", "preadmit") }

// variants are the values files with which the chart is rendered.
func variants(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "deploy", "testdata", "chart", "*.values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 5 {
		t.Fatalf("only %d files of values: %q", len(files), files)
	}
	return files
}

func readValues(t *testing.T, file string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestRender: the stored manifests that preadmit judges are those that Helm renders.
func TestRender(t *testing.T) {
	for _, file := range variants(t) {
		variant := strings.TrimSuffix(filepath.Base(file), ".values.yaml")
		t.Run(variant, func(t *testing.T) {
			manifests, notes, err := Render(chartDir(), readValues(t, file))
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Dir(file)
			golden(t, filepath.Join(dir, variant, "manifests.yaml"), manifests)
			golden(t, filepath.Join(dir, variant, "NOTES.txt"), notes)
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is out of date, run the test with -update (-file +chart):\n%s", file, diff)
	}
}

// TestLint: Helm's linter reports only that there is no icon.
func TestLint(t *testing.T) {
	for _, file := range variants(t) {
		linted := lint.AllWithKubeVersion(chartDir(), readValues(t, file), "preadmit", nil)
		if len(linted.Messages) != 1 {
			t.Errorf("%s: %d messages, want that there is no icon", filepath.Base(file), len(linted.Messages))
		}
		for _, m := range linted.Messages {
			if m.Severity > support.InfoSev || !strings.Contains(m.Err.Error(), "icon is recommended") {
				t.Errorf("%s: %s", filepath.Base(file), m)
			}
		}
	}
}

// TestRefused: values that would not work are refused, and the message names them.
func TestRefused(t *testing.T) {
	tests := []struct{ name, values, want string }{
		{"nothing", "config: null", "config"},
		{"no URL", "config: {publicURL: null}", "missing property 'publicURL'"},
		{"no scheme", "config: {publicURL: preadmit.example.com}", "/config/publicURL"},
		{"no App", "config: {app: {id: null}}", "missing property 'id'"},
		{"unknown value", "replica: 3", "additional properties 'replica' not allowed"},
		{"unknown setting", "config: {scan: {cores: 3}}", "additional properties 'cores' not allowed"},
		{"a secret as setting", "config: {app: {webhookSecret: x}}", "additional properties 'webhookSecret' not allowed"},
		{"a secret as variable", "extraEnv: [{name: PREADMIT_APP_PRIVATE_KEY, value: x}]", "/extraEnv/0"},
		{"a number as text", "replicas: \"3\"", "/replicas"},
		{"digest", "image: {digest: \"sha256:abc\"}", "/image/digest"},
		{"memory of other units", "config: {scan: {memory: 2G}}", "/config/scan/memory"},
		{"storage of other units", "resources: {limits: {ephemeral-storage: 9G}}", "/resources/limits/ephemeral-storage"},
		{"an octal size", "scratchSize: 010Gi", "/scratchSize"},
		{"no time to drain", "config: {drain: null}", "missing property 'drain'"},
		{"no size to fetch", "config: {fetch: {size: null}}", "missing property 'size'"},
		{"no size to keep", "config: {keep: {size: null}}", "missing property 'size'"},
		{"no size of the volume", "persistence: {size: null}", "missing property 'size'"},
		{"no secret", "secret: {existingSecret: \"\"}", "secret.existingSecret: name a Secret"},
		{"half a secret", "secret: {existingSecret: \"\", privateKey: x}", "secret.existingSecret: name a Secret"},
		{"two secrets", "secret: {privateKey: x}", "secret.existingSecret: given beside"},
		{"no host", "ingress: {enabled: true}", "ingress.host: is needed"},
		{"no gateway", "httpRoute: {enabled: true}", "httpRoute.parentRefs: is needed"},
		{"no way to GitHub", "networkPolicy: {github: []}", "/networkPolicy/github"},
		{"no name servers", "networkPolicy: {dns: []}", "/networkPolicy/dns"},
		{"no ports of theirs", "networkPolicy: {dnsPorts: []}", "/networkPolicy/dnsPorts"},
		{"a port by name", "networkPolicy: {dnsPorts: [dns]}", "/networkPolicy/dnsPorts/0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := renderWith(t, test.values)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// renderWith renders the chart with the minimum required values and additional ones.
func renderWith(t *testing.T, more string) (manifests string, err error) {
	t.Helper()
	values := readValues(t, variants(t)[0])
	if values["secret"].(map[string]any)["existingSecret"] != "preadmit" {
		t.Fatalf("%s is not the variant that tests change", variants(t)[0])
	}
	var change map[string]any
	if err := yaml.Unmarshal([]byte(more), &change); err != nil {
		t.Fatal(err)
	}
	manifests, _, err = Render(chartDir(), chartutil.CoalesceTables(change, values))
	return manifests, err
}

// TestPackage: the chart has exactly the files that its package needs.
func TestPackage(t *testing.T) {
	if _, err := chartutil.IsChartDir(chartDir()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"README.md", "values.schema.json", "templates/NOTES.txt"} {
		if _, err := os.Stat(filepath.Join(chartDir(), file)); err != nil {
			t.Error(err)
		}
	}
}
