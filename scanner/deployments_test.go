package scanner_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// deployments are real repositories with what Flux's own code makes of them.
const deployments = "../../shared/deployments/flux"

// TestDeploymentsAreJudgedAsApplied scans real repositories, and the objects that Flux's own
// code makes of them as plain manifests: policies find the same.
func TestDeploymentsAreJudgedAsApplied(t *testing.T) {
	policies, err := os.ReadFile("testdata/deployments/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sets, _ := filepath.Glob(filepath.Join(deployments, "*", "entry.json"))
	if len(sets) == 0 {
		t.Skip("no recorded deployments at " + deployments + " to compare with")
	}
	testall.Long(t)
	for _, set := range sets {
		t.Run(path.Base(filepath.Dir(set)), func(t *testing.T) {
			dir := filepath.Dir(set)
			scan := func(tree scanner.Tree, c config.Config) *report.Report {
				return mustScan(t, scanner.Input{Head: tree, Config: c, Extra: []scanner.Extra{{Name: "policies.yaml", FS: fstest.MapFS{"policies.yaml": {Data: policies}}}}})
			}
			got := scan(scanner.Tree{FS: os.DirFS(clone(t, dir))}, config.Config{Entries: entriesOf(t, set)})
			want := scan(scanner.Tree{FS: recorded(t, dir)}, config.Config{Unclaimed: config.UnclaimedJudge})
			deployed, plain := findingsOf(got), findingsOf(want)
			if diff := cmp.Diff(plain, deployed); diff != "" {
				t.Errorf("findings (-of the recorded objects +of the repository):\n%s", diff)
			}
			t.Logf("%d findings of %d requests; recorded: %d of %d", len(deployed), got.Summary.Requests, len(plain), want.Summary.Requests)
		})
	}
}

func clone(t *testing.T, dir string) string {
	t.Helper()
	work := t.TempDir()
	if out, err := exec.Command("git", "clone", "-q", "-b", "head", filepath.Join(dir, "repo.bundle"), work).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return work
}

func entriesOf(t *testing.T, set string) (dirs []string) {
	t.Helper()
	var entry struct{ Entries []struct{ Path string } }
	data, err := os.ReadFile(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		t.Fatal(err)
	}
	for _, e := range entry.Entries {
		dirs = append(dirs, path.Clean(e.Path))
	}
	return dirs
}

// recorded is a tree with a directory for each unit, in which its objects are.
func recorded(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "expected", "Kustomization__*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded objects: %v", err)
	}
	tree := fstest.MapFS{}
	remote := withRemoteResources(t, dir)
	for _, file := range files {
		if remote[filepath.Base(file)] {
			continue // they are not in the records, and the unit is a gap
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		unit := strings.TrimSuffix(filepath.Base(file), ".yaml")
		tree[unit+"/objects.yaml"] = &fstest.MapFile{Data: data}
	}
	return tree
}

// withRemoteResources are the files of units that have resources from elsewhere.
func withRemoteResources(t *testing.T, dir string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expected", "units.json"))
	if err != nil {
		t.Fatal(err)
	}
	var units []struct {
		Kind, Namespace, Name string
		RemoteResources       []string
	}
	if err := json.Unmarshal(data, &units); err != nil {
		t.Fatal(err)
	}
	remote := map[string]bool{}
	for _, u := range units {
		remote[u.Kind+"__"+u.Namespace+"__"+u.Name+".yaml"] = len(u.RemoteResources) > 0
	}
	return remote
}

// findingsOf are the findings of policies in a report, wherever they are.
func findingsOf(r *report.Report) []string {
	var all []string
	for _, f := range r.Findings {
		if f.Object != nil && f.Policy != "" {
			all = append(all, fmt.Sprintf("%s %s %s/%s: %s", f.Policy, f.Object.Kind, f.Object.Namespace, f.Object.Name, f.Message))
		}
	}
	slices.Sort(all)
	return all
}
