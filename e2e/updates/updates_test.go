package updates

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestUpdate: the same number gives the same update each time, different numbers give
// different updates, and no example is modified.
func TestUpdate(t *testing.T) {
	g, err := New()
	if err != nil {
		t.Fatal(err)
	}
	first := g.Update(7, "a")
	kinds, equal := map[any]bool{}, 0
	for number := range uint64(500) {
		u := g.Update(number, "a")
		kinds[u.Base["kind"]] = true
		if u.Base["kind"] != u.Head["kind"] || u.Base["metadata"].(map[string]any)["name"] != "a" || u.Head["metadata"].(map[string]any)["name"] != "a" {
			t.Errorf("%d: not the same object before and after", number)
		}
		if cmp.Equal(u.Base, u.Head) {
			t.Errorf("%d changes nothing", number)
		}
		if cmp.Equal(u, first) {
			equal++
		}
	}
	if len(kinds) < 45 || equal > 2 {
		t.Errorf("%d kinds, %d updates are the same", len(kinds), equal)
	}
	if diff := cmp.Diff(first, g.Update(7, "a")); diff != "" {
		t.Errorf("the same number (-first +again):\n%s", diff)
	}
}

// TestOthers: the writes of others are the same each time, and mostly not empty.
func TestOthers(t *testing.T) {
	g, err := New()
	if err != nil {
		t.Fatal(err)
	}
	nothing := 0
	for number := range uint64(200) {
		u := g.Update(number, "a")
		base := runtime.DeepCopyJSON(u.Base)
		first, err := g.Others(number, u.Base)
		if err != nil {
			t.Fatal(err)
		}
		again, err := g.Others(number, u.Base)
		if err != nil || !cmp.Equal(first, again) || !cmp.Equal(base, u.Base) {
			t.Errorf("%d: %v, then %v, %v", number, first, again, err)
		}
		if len(first) == 0 {
			nothing++
		}
	}
	if nothing > 50 {
		t.Errorf("nothing is written %d times", nothing)
	}
}
