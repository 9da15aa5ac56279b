package render

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestCounterfactual proves places in the trees of testdata/counterfactual. Lines
// `KIND/NAME FIELD [front|back]` of a comment ask for what Place says of a field;
// with `at FILE:LINE:COLUMN` behind them, for that place instead. The file `want`
// is what comes out. Every tree is one root, named `overlay` or the top.
func TestCounterfactual(t *testing.T) {
	archives, err := filepath.Glob("testdata/counterfactual/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives (%v)", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want := treeOf(archive)
			a := newAsked(t, NewRenderer(fsys, Options{}))
			var got strings.Builder
			for line := range strings.Lines(string(archive.Comment)) {
				if words := strings.Fields(line); len(words) >= 2 && strings.Contains(words[0], "/") {
					fmt.Fprintf(&got, "%s\n    %s\n", strings.Join(words, " "), a.prove(t, words))
				}
			}
			if *update {
				setWant(archive, got.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("-want +got (rewrite with -update):\n%s", diff)
			}
		})
	}
}

// mostRenders bounds the renders of a question.
const mostRenders = 5

// asked is a root about which claims are made.
type asked struct {
	renderer *Renderer
	result   *Result
	sources  []*Source
}

func newAsked(t *testing.T, r *Renderer) *asked {
	t.Helper()
	ctx := context.Background()
	found, err := r.Discover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{renderer: r}
	for _, root := range found.Roots {
		if a.result == nil || root.Path == "overlay" {
			a.result = r.Render(ctx, root)
		}
	}
	if a.result == nil || a.result.Problem != nil {
		t.Fatalf("the tree does not render: %+v", a.result)
	}
	if a.sources, err = r.Sources(ctx, a.result); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *asked) claim(t *testing.T, words []string) Claim {
	t.Helper()
	for i, o := range a.result.Objects {
		if kind, name := kindAndName(o.Content()); kind+"/"+contentHash.ReplaceAllString(name, "") == words[0] {
			c := Claim{Object: i, Field: words[1], Part: partOf(words[2:min(3, len(words))])}
			c.Place = a.sources[i].Place(c.Field, c.Part)
			if n := len(words); words[n-2] == "at" {
				c.Place = Place{Evidence: Inferred, Position: positionOf(t, words[n-1])}
			}
			return c
		}
	}
	t.Fatalf("there is no %s", words[0])
	return Claim{}
}

func positionOf(t *testing.T, text string) Position {
	t.Helper()
	file, place, _ := strings.Cut(text, ":")
	p := Position{Path: file}
	if _, err := fmt.Sscanf(place, "%d:%d", &p.Line, &p.Column); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func (a *asked) prove(t *testing.T, words []string) string {
	t.Helper()
	c := a.claim(t, words)
	proof := a.renderer.Counterfactual(context.Background(), a.result, c)
	evidence := map[Evidence]string{Nearest: "nearest", Marked: "marked", Inferred: "inferred", Removed: "removed"}[c.Place.Evidence]
	out := fmt.Sprintf("%s %s: %s", evidence, c.Place.Position, proof.Outcome)
	if proof.Why != "" {
		out += ": " + proof.Why
	}
	if at, other := a.renderer.Prover(a.result, mostRenders).Settle(context.Background(), c); at != c.Place {
		out += fmt.Sprintf("\n    instead %s: %s", at.Position, other.Outcome)
	}
	return out
}
