package scanner_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/decoded"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// TestAnswers checks that a report is the same whether this process or another one found the lines and evaluated the
// policies, and that lines are found once. Without lines to find, the number of steps is the same as before.
func TestAnswers(t *testing.T) {
	spared := 0
	for _, dir := range []string{"chains", "lines", "scenarios"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no archives: %v", err)
		}
		for _, file := range files {
			t.Run(dir+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				spared += answeredTwice(t, file, archive)
			})
		}
	}
	if spared < 100 {
		t.Errorf("only %d steps are spared", spared)
	}
}

// answeredTwice scans a change three times, the last two with shared answers, and returns by how many steps of work
// the last scan is shorter.
func answeredTwice(t *testing.T, file string, archive *txtar.Archive) int {
	t.Helper()
	_, in := archiveInput(t, file, archive)
	want := reportJSON(t, mustScan(t, in))
	dir := t.TempDir()
	var steps [2]int
	for i := range steps {
		_, in := archiveInput(t, file, archive)
		in.Answers, in.Decoded, in.Settled = origin.OpenAnswers(filepath.Join(dir, "answers")), decoded.Open(filepath.Join(dir, "decoded")), settled.Open(filepath.Join(dir, "settled"))
		var mu sync.Mutex
		in.Rendering = func(string, string) func() {
			mu.Lock()
			defer mu.Unlock()
			steps[i]++
			return func() {}
		}
		if diff := cmp.Diff(want, reportJSON(t, mustScan(t, in))); diff != "" {
			t.Errorf("scan %d with shared answers (-without +with):\n%s", i, diff)
		}
		if err := errors.Join(in.Answers.Save(), in.Decoded.Save(), in.Settled.Save()); err != nil {
			t.Fatal(err)
		}
	}
	return steps[0] - steps[1]
}

// TestAnswersOfOtherVersions checks that the lines of a chart are found once, but once per Kubernetes version if the
// chart may read the version, directly or through another value.
func TestAnswersOfOtherVersions(t *testing.T) {
	const template = "both/charts/web/charts/part/templates/deployment.yaml"
	for name, test := range map[string]struct {
		old, new string
		once     bool
	}{
		"the version is not read": {once: true},
		"it is read":              {old: "name: web\nspec:", new: "name: web\n  labels: {minor: \"{{ .Capabilities.KubeVersion.Minor }}\"}\nspec:"},
		"it is read with another value": {
			old: "hostNetwork: true", new: "hostNetwork: true\n      hostname: h{{ .Capabilities.KubeVersion.Minor }}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			answers := origin.OpenAnswers(filepath.Join(t.TempDir(), "answers"))
			archive, err := txtar.ParseFile("testdata/chains/charts.txtar")
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == template })
			text := string(archive.Files[i].Data)
			if !strings.Contains(text, test.old) {
				t.Fatalf("%s has no %s", template, test.old)
			}
			archive.Files[i].Data = []byte(strings.Replace(text, test.old, test.new, 1))
			var worked [2]int
			for i := range worked {
				_, in := archiveInput(t, "charts", archive)
				in.Answers = answers
				in.Rendering = func(root, _ string) func() {
					if root == "charts/web" {
						worked[i]++
					}
					return func() {}
				}
				in.Workers = 1
				if _, err := scanner.Scan(context.Background(), in); err != nil {
					t.Fatal(err)
				}
			}
			if worked[0] == 0 || (worked[0] > worked[1]) != test.once {
				t.Errorf("scans worked on the chart %v times", worked)
			}
		})
	}
}
