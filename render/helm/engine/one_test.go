package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/engine"
)

// TestOneAndRest checks that executing the first template file and then the rest equals rendering, and that
// rest is nil after other files. A later file may need values that the first file writes, as in Istio's
// charts.
func TestOneAndRest(t *testing.T) {
	one := func(e *engine.Engine, archive, name string) (*engine.File, func() (*engine.Rendering, error), error) {
		c, all, err := prepared(t, loadArchive(t, archive), nil)
		if err != nil {
			t.Fatal(err)
		}
		return e.One(t.Context(), c, all, engine.Options{Seed: "seed", Now: now}, name)
	}
	rested := 0
	for _, archive := range testall.Sample(archives(t), 20) {
		c, all, err := prepared(t, loadArchive(t, archive), nil)
		if err != nil {
			continue
		}
		e := engine.New()
		want, err := e.Render(t.Context(), c, all, engine.Options{Seed: "seed", Now: now})
		if err != nil || len(want.Files) == 0 {
			continue // TestHelmAgrees compares its error
		}
		for i, f := range want.Files[:min(len(want.Files), 2)] {
			file, rest, err := one(e, archive, f.Name)
			if err != nil && i > 0 && rest == nil {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", archive, f.Name, err)
			}
			if f.First != (i == 0) || (rest != nil) != f.First || file.First != f.First {
				t.Fatalf("%s: %s is first: %v, by itself %v, with a rest: %v", archive, f.Name, f.First, file.First, rest != nil)
			}
			if rest == nil {
				continue
			}
			got, err := rest()
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			for _, f := range want.Files {
				texts[f.Name] = f.Text
			}
			compare(t, filepath.Base(archive), got, texts)
			if got.Steps != want.Steps || got.Work != want.Work || len(got.Chance) != len(want.Chance) {
				t.Errorf("%s: %d steps and %d of work, want %d and %d", archive, got.Steps, got.Work, want.Steps, want.Work)
			}
			rested++
		}
	}
	if rested == 0 {
		t.Error("nothing was rested")
	}
}
