package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// TestConverted checks what is known of an object in another version, also where its metadata are not known at all.
func TestConverted(t *testing.T) {
	fields := []render.Unknown{{Path: []string{"metadata"}, Reason: "why"}}
	maybe := unknown.Value{Field: &fields[0], Maybe: true}
	for _, test := range []struct{ metadata, want any }{
		{map[string]any{"name": "a"}, map[string]any{"name": "a", "annotations": maybe}},
		{unknown.Value{Field: &fields[0]}, unknown.Value{Field: &fields[0]}},
		{nil, nil},
	} {
		got := unknown.Converted(map[string]any{"kind": "A", "metadata": test.metadata, "spec": "b"}, fields)
		if diff := cmp.Diff(map[string]any{"kind": "A", "metadata": test.want, "spec": maybe}, got); diff != "" {
			t.Errorf("%v: %s", test.metadata, diff)
		}
	}
}
