package deploy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/sources"
)

// deployments has repositories with the results of Flux's own code.
const deployments = "../../../shared/deployments/flux"

// recordedUnit is an entry of units.json.
type recordedUnit struct {
	ID, Kind, Parent, Path, MissingSource, Error string
	Suspended                                    bool
	Reasons                                      []string
	Ignore                                       []struct{ Object, Path string }
	Namespace, Name                              string
}

// TestDeployments compares the units of real repositories with the results of Flux's own code.
func TestDeployments(t *testing.T) {
	sets, _ := filepath.Glob(filepath.Join(deployments, "*", "entry.json"))
	if len(sets) == 0 {
		t.Skip("no recorded deployments at " + deployments + " to compare with")
	}
	testall.Long(t)
	for _, set := range sets {
		dir := filepath.Dir(set)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			compareBranch(t, dir, "head", "expected", nil)
			var entry struct {
				Changed struct{ Differ, OnlyBase []string }
			}
			readJSON(t, set, &entry)
			compareBranch(t, dir, "base", "expected-base", append(entry.Changed.Differ, entry.Changed.OnlyBase...))
		})
	}
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func compareBranch(t *testing.T, dir, branch, expected string, only []string) {
	work := t.TempDir()
	if out, err := exec.Command("git", "clone", "-q", "-b", branch, filepath.Join(dir, "repo.bundle"), work).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var entry struct{ Entries []struct{ Path string } }
	readJSON(t, filepath.Join(dir, "entry.json"), &entry)
	var units []recordedUnit
	readJSON(t, filepath.Join(dir, expected, "units.json"), &units)

	r := sources.NewRenderer(os.DirFS(work), render.Options{})
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	graph, err := deploy.Expand(context.Background(), r, found, deploy.Options{Everything: true, Entries: []string{entry.Entries[0].Path}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]render.Root{}
	for _, root := range graph.Units {
		got[root.Object.String()] = root
	}
	compared := 0
	for _, u := range units {
		root, listed := got[u.ID]
		delete(got, u.ID)
		switch {
		case u.Kind != "Kustomization" || only != nil && !slices.Contains(only, u.ID):
			continue
		case !listed:
			t.Errorf("%s %s: no such unit", branch, u.ID)
			continue
		case root.Unit.Parent.Object.Name != nameIn(u.Parent):
			t.Errorf("%s %s: parent %s, want %s", branch, u.ID, root.Unit.Parent, u.Parent)
		}
		result := graph.Results[root.RootID]
		if u.Suspended || u.MissingSource != "" || u.Error != "" {
			if !u.Suspended && root.Unit.Problem == nil && result.Problem == nil {
				t.Errorf("%s %s: rendered, though the recording could not", branch, u.ID)
			}
			continue
		}
		if len(u.Reasons) > 0 && strings.HasPrefix(u.Reasons[0], "remote") && (root.Unit.Problem != nil || result.Problem != nil) {
			continue // the rest depends on remote resources
		}
		compared++
		if result == nil || result.Problem != nil {
			t.Errorf("%s %s: %v", branch, u.ID, result)
			continue
		}
		for _, line := range difference(t, recordedObjects(t, filepath.Join(dir, expected, u.Kind+"__"+u.Namespace+"__"+u.Name+".yaml")), result, u) {
			t.Errorf("%s %s: %s", branch, u.ID, line)
		}
	}
	for id := range got {
		t.Errorf("%s %s: unit not expected", branch, id)
	}
	t.Logf("%s: %d units compared", branch, compared)
}

func nameIn(id string) string {
	if id == "" {
		return ""
	}
	return id[strings.LastIndexByte(id, '/')+1:]
}

func recordedObjects(t *testing.T, name string) (objects []map[string]any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		return nil // without objects
	}
	for _, document := range bytes.Split(append([]byte("\n"), data...), []byte("\n---\n")) {
		var o map[string]any
		if err := yaml.Unmarshal(append(slices.Clone(document), '\n'), &o); err != nil { // a block ends with it
			t.Fatal(err)
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// difference returns the differences between recorded and rendered objects, except for random and unknown fields.
func difference(t *testing.T, want []map[string]any, result *render.Result, u recordedUnit) (lines []string) {
	left := map[string]map[string]any{}
	for _, o := range result.Objects {
		left[key(o.Content())] = o.Content()
	}
	for _, o := range want {
		name := key(o)
		have := left[name]
		delete(left, name)
		if have == nil {
			lines = append(lines, "missing "+name)
			continue
		}
		if digest, ok := o["x-digest"].(string); ok {
			sum := sha256.Sum256([]byte(canonical(have, true)))
			if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
				lines = append(lines, fmt.Sprintf("%s has the digest %s, want %s", name, got, digest))
			}
			continue
		}
		for _, ignored := range u.Ignore {
			if ignored.Object == name {
				erase(o, strings.Split(ignored.Path, "/")[1:])
				erase(have, strings.Split(ignored.Path, "/")[1:])
			}
		}
		if a, b := canonical(o, false), canonical(have, false); a != b {
			lines = append(lines, fmt.Sprintf("%s differs\n  want %s\n  got  %s", name, a, b))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		lines = append(lines, "too many "+name)
	}
	return lines
}

func key(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	text := func(v any) string { s, _ := v.(string); return s }
	return strings.Join([]string{text(o["apiVersion"]), text(o["kind"]), text(metadata["namespace"]), text(metadata["name"])}, "|")
}

// erase removes the field of a JSON pointer in nested mappings.
func erase(value any, path []string) {
	for i, step := range path {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := value.(type) {
		case map[string]any:
			if i == len(path)-1 {
				delete(v, step)
			}
			value = v[step]
		case []any:
			at := -1
			if _, err := fmt.Sscan(step, &at); err != nil || at < 0 || at >= len(v) {
				return
			}
			if i == len(path)-1 {
				v[at] = nil
			}
			value = v[at]
		}
	}
}

// canonical returns a value as JSON, with integral floats as integers, and with or without null fields.
func canonical(value any, nulls bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(plain(value, nulls)) // it was decoded
	return strings.TrimSuffix(out.String(), "\n")
}

func plain(value any, nulls bool) any {
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			if v[k] = plain(item, nulls); item == nil && !nulls {
				delete(v, k)
			}
		}
	case []any:
		for i, item := range v {
			v[i] = plain(item, nulls)
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return int64(v)
		}
	}
	return value
}
