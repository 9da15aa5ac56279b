package objects_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report/format/objects"
)

// TestWriteJSONIsSafe: the JSON of units and of a tree keeps its meaning, and no text of a
// repository in it is interpreted by a terminal or a CI runner.
func TestWriteJSONIsSafe(t *testing.T) {
	hostile := "a\u202e\x7f\u2028##[add-mask]b\u0085\n::error::c"
	units := []objects.Unit{{ID: hostile, Path: hostile, Objects: []map[string]any{{hostile: hostile}}}}
	tree := objects.Tree{
		Clusters:  []objects.TreeCluster{{Name: hostile, Units: []objects.TreeUnit{{ID: hostile, NotRendered: hostile}}}},
		Unclaimed: []string{hostile}, Remarks: []string{hostile},
	}
	var out bytes.Buffer
	if err := objects.WriteUnits(&out, units); err != nil {
		t.Fatal(err)
	}
	checkSafe(t, out.String())
	var read struct {
		Units []objects.Unit `json:"units"`
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hostile, read.Units[0].Objects[0][hostile]); diff != "" {
		t.Errorf("the object changed (-want +got):\n%s", diff)
	}
	out.Reset()
	if err := objects.WriteTreeJSON(&out, tree); err != nil {
		t.Fatal(err)
	}
	checkSafe(t, out.String())
	var got objects.Tree
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree, got); diff != "" {
		t.Errorf("the tree changed (-want +got):\n%s", diff)
	}
}
