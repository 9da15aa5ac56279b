package engine_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	helmengine "helm.sh/helm/v4/pkg/engine"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/values"
)

// corpus is the directory of real charts, beside the repository.
const corpus = "../../../../shared/deployments/charts"

// archives returns the chart archives of the corpus, and skips the test if there is none.
func archives(t testing.TB) []string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(corpusDir(), "*", "*.tgz"))
	if len(found) == 0 {
		t.Skipf("no chart archives in %s", corpusDir())
	}
	return found
}

func corpusDir() string {
	if dir := os.Getenv("PREADMIT_CHARTS"); dir != "" {
		return dir
	}
	return corpus
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func loadArchive(t testing.TB, file string) *helmchart.Chart {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := chart.FromArchive(data, chart.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return c
}

// prepared returns a copy of a chart and the input of its templates.
func prepared(t testing.TB, c *helmchart.Chart, user map[string]any) (*helmchart.Chart, common.Values, error) {
	t.Helper()
	return preparedFor(t, c, user, "v1.34.0")
}

// preparedFor is prepared for a version of Kubernetes.
func preparedFor(t testing.TB, c *helmchart.Chart, user map[string]any, version string) (*helmchart.Chart, common.Values, error) {
	t.Helper()
	capabilities, err := values.Capabilities(version, nil)
	if err != nil {
		t.Fatal(err)
	}
	copied := chart.Copy(c)
	all, err := values.Prepare(copied, user, values.Release{Name: "release", Namespace: "space"}, capabilities)
	return copied, all, err
}

// valueFiles returns the values to render a chart with: none, and those of its ci directory.
func valueFiles(t testing.TB, c *helmchart.Chart) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{"": {}}
	for _, f := range c.Raw {
		if dir := path.Dir(f.Name); dir == "ci" && strings.HasSuffix(f.Name, ".yaml") {
			v, err := common.ReadValues(f.Data)
			if err != nil {
				t.Logf("%s: %v", f.Name, err)
				continue
			}
			all[f.Name] = v
		}
	}
	return all
}

// TestHelmAgrees compares the engine's output for real charts with that of Helm's engine.
func TestHelmAgrees(t *testing.T) {
	charts, renders, failing := 0, 0, 0
	for _, file := range testall.Sample(archives(t), 20) {
		c := loadArchive(t, file)
		e := engine.New()
		charts++
		for name, user := range valueFiles(t, c) {
			renders++
			if !agrees(t, e, filepath.Base(file)+" "+name, c, user) {
				failing++
			}
		}
	}
	t.Logf("%d charts, %d renders, of which %d fail, alike in Helm", charts, renders, failing)
}

// agrees compares the two engines and reports whether the chart renders.
func agrees(t *testing.T, e *engine.Engine, name string, c *helmchart.Chart, user map[string]any) bool {
	t.Helper()
	copied, all, err := prepared(t, c, user)
	if err != nil {
		t.Logf("%s: %v", name, err)
		return false
	}
	got, err := e.Render(t.Context(), copied, all, engine.Options{Seed: "seed", Now: now})
	oracleChart, oracleValues, _ := prepared(t, c, user)
	want, wantErr := helmengine.Engine{CustomTemplateFuncs: engine.ChanceFunctions("seed", now)}.Render(oracleChart, oracleValues)
	if (err != nil) != (wantErr != nil) {
		t.Errorf("%s: error %v, Helm says %v", name, err, wantErr)
		return false
	}
	if err != nil {
		if !strings.Contains(strings.ReplaceAll(wantErr.Error(), "\n", " "), strings.Split(errorText(err), "\n")[0]) {
			t.Errorf("%s: error %v, Helm says %v", name, err, wantErr)
		}
		return false
	}
	compare(t, name, got, want)
	return true
}

func errorText(err error) string {
	if e, ok := err.(*engine.Error); ok {
		return e.Message
	}
	return err.Error()
}

func compare(t *testing.T, name string, got *engine.Rendering, want map[string]string) {
	t.Helper()
	if len(got.Files) != len(want) {
		t.Errorf("%s: %d files, want %d", name, len(got.Files), len(want))
	}
	for _, f := range got.Files {
		if f.Text != want[f.Name] {
			t.Errorf("%s: %s differs: %s", name, f.Name, firstDifference(f.Text, want[f.Name]))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestOracleLoads checks that charts are loaded as Helm loads them.
func TestOracleLoads(t *testing.T) {
	for _, file := range archives(t) {
		c := loadArchive(t, file)
		want, err := loader.Load(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got, want := outline(c), outline(want); !slices.Equal(got, want) {
			t.Errorf("%s: read as %q, want %q", file, got, want)
		}
	}
}

// outline lists the templates, files and dependencies of a chart.
func outline(c *helmchart.Chart) []string {
	var all []string
	for _, f := range c.Templates {
		all = append(all, fmt.Sprintf("%s/%s %d", c.ChartFullPath(), f.Name, len(f.Data)))
	}
	for _, f := range c.Files {
		all = append(all, fmt.Sprintf("%s/%s %d", c.ChartFullPath(), f.Name, len(f.Data)))
	}
	for _, d := range c.Dependencies() {
		all = append(all, outline(d)...)
	}
	slices.Sort(all)
	return all
}
