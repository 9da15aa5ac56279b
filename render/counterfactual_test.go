package render_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

// TestCounterfactual proves places in the trees of testdata/counterfactual. Lines `KIND/NAME FIELD [front|back]` of a
// comment prove the result of Place for a field; with `at FILE:LINE:COLUMN` at the end, they prove that place instead.
// The file `want` has the results. Every tree is one root, named `overlay` or the top.
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
			a := newAsked(t, sources.NewRenderer(fsys, render.Options{}))
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

// mostRenders limits the renders of a proof.
const mostRenders = 5

// asked is a root to make claims about.
type asked struct {
	renderer *render.Renderer
	result   *render.Result
	sources  []*origin.Origin
}

func newAsked(t *testing.T, r *render.Renderer) *asked {
	t.Helper()
	ctx := context.Background()
	found, err := r.Discover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{renderer: r}
	for _, root := range found.Roots {
		if a.result == nil || root.Dir == "overlay" {
			a.result = r.Render(ctx, root)
		}
	}
	if a.result == nil || a.result.Problem != nil {
		t.Fatalf("the tree does not render: %+v", a.result)
	}
	if a.sources, err = r.Origins(ctx, a.result); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *asked) claim(t *testing.T, words []string) proof.Claim {
	t.Helper()
	for i, o := range a.result.Objects {
		if kind, name := render.KindAndName(o.Content()); kind+"/"+origin.ContentHash.ReplaceAllString(name, "") == words[0] {
			c := proof.Claim{Object: i, Field: words[1], Part: partOf(words[2:min(3, len(words))])}
			c.Place = a.sources[i].Place(c.Field, c.Part)
			if n := len(words); words[n-2] == "at" {
				c.Place = origin.Place{Evidence: origin.Inferred, Position: positionOf(t, words[n-1])}
			}
			return c
		}
	}
	t.Fatalf("there is no %s", words[0])
	return proof.Claim{}
}

func positionOf(t *testing.T, text string) tree.Position {
	t.Helper()
	file, place, _ := strings.Cut(text, ":")
	p := tree.Position{Path: file}
	if _, err := fmt.Sscanf(place, "%d:%d", &p.Line, &p.Column); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func (a *asked) prove(t *testing.T, words []string) string {
	t.Helper()
	c := a.claim(t, words)
	got := proof.Check(a.renderer, context.Background(), a.result, c)
	evidence := map[origin.Evidence]string{origin.Nearest: "nearest", origin.Marked: "marked", origin.Inferred: "inferred", origin.Removed: "removed"}[c.Place.Evidence]
	out := fmt.Sprintf("%s %s: %s", evidence, c.Place.Position, got.Outcome)
	if got.Why != "" {
		out += ": " + got.Why
	}
	if at, other := proof.New(a.renderer, a.result, mostRenders).Settle(context.Background(), c); at.Position != c.Place.Position {
		out += fmt.Sprintf("\n    instead %s: %s", at.Position, other.Outcome)
	}
	return out
}

// limitsTree is a root with a value that is located by a rule.
func limitsTree() fstest.MapFS {
	return fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources: [web.yaml]\nreplicas:\n- {name: web, count: 3}\n")},
		"web.yaml":           {Data: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n")},
	}
}

// TestProverIsBounded checks that a prover without renders left, or with a canceled context, decides nothing, and that
// it does not repeat a render.
func TestProverIsBounded(t *testing.T) {
	a := newAsked(t, sources.NewRenderer(limitsTree(), render.Options{}))
	claim := a.claim(t, []string{"Deployment/web", "spec.replicas"})
	ctx, cancel := context.WithCancel(context.Background())
	if got := proof.New(a.renderer, a.result, 0).Prove(ctx, claim); got.Outcome != proof.Undecided || !strings.Contains(got.Why, "more renders") {
		t.Errorf("without renders: %+v", got)
	}
	p := proof.New(a.renderer, a.result, 1)
	for range 2 {
		if got := p.Prove(ctx, claim); got.Outcome != proof.Confirmed {
			t.Errorf("with one render: %+v", got)
		}
	}
	cancel()
	if got := proof.New(a.renderer, a.result, 1).Prove(ctx, claim); got.Outcome != proof.Undecided || !strings.Contains(got.Why, "given up") {
		t.Errorf("given up: %+v", got)
	}
}

// TestCounterfactualUndecided checks claims that cannot be decided, among them a place whose change makes kustomize
// look for something else.
func TestCounterfactualUndecided(t *testing.T) {
	a := newAsked(t, sources.NewRenderer(limitsTree(), render.Options{}))
	tests := map[string]struct {
		claim proof.Claim
		why   string
	}{
		"no such object": {proof.Claim{Object: 7}, "there is no object 7"},
		"nothing known":  {proof.Claim{Field: "spec.replicas"}, "nothing is known"},
		"no such file": {
			proof.Claim{Field: "spec.replicas", Place: origin.Place{Evidence: origin.Inferred, Position: tree.Position{Path: "none.yaml", Line: 1, Column: 1}}}, "none.yaml",
		},
		"no such line": {
			proof.Claim{Field: "spec.replicas", Place: origin.Place{Evidence: origin.Inferred, Position: tree.Position{Path: "web.yaml", Line: 9, Column: 1}}}, "no scalar begins",
		},
		"no such field": {
			proof.Claim{Field: "spec.paused", Place: origin.Place{Evidence: origin.Marked, Position: tree.Position{Path: "web.yaml", Line: 4, Column: 7}}}, "no such field",
		},
		"an entry that names a file": {
			proof.Claim{Field: "kind", Place: origin.Place{Evidence: origin.Inferred, Position: tree.Position{Path: "kustomization.yaml", Line: 1, Column: 13}}}, "does not exist",
		},
		"nothing taken away": {
			proof.Claim{Field: "spec.paused", Place: origin.Place{Evidence: origin.Removed, Position: tree.Position{Path: "web.yaml", Line: 4, Column: 8}}}, "takes anything away",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := proof.Check(a.renderer, context.Background(), a.result, tt.claim)
			if got.Outcome != proof.Undecided || !strings.Contains(got.Why, tt.why) {
				t.Errorf("%s: %s, want undecided because of %q", got.Outcome, got.Why, tt.why)
			}
		})
	}
}

// TestCounterfactualOfBytes checks a file that is not text, which becomes binaryData, in base64.
func TestCounterfactualOfBytes(t *testing.T) {
	a := newAsked(t, sources.NewRenderer(fstest.MapFS{
		"kustomization.yaml": {Data: []byte("configMapGenerator:\n- {name: bytes, files: [a, b]}\n")},
		"a":                  {Data: []byte("\xff\xfe\x00\n")},
		"b":                  {Data: []byte("\xff\xfd\x00\n")},
	}, render.Options{}))
	for file, want := range map[string]proof.Outcome{"a": proof.Confirmed, "b": proof.Refuted} {
		claim := a.claim(t, []string{"ConfigMap/bytes", "binaryData.a", "at", file + ":1:1"})
		if got := proof.Check(a.renderer, context.Background(), a.result, claim); got.Outcome != want {
			t.Errorf("%s: %+v, want %s", file, got, want)
		}
	}
}

// TestObjectIsFoundAgain checks that an object is found again in any order of objects, and after a change of its name.
func TestObjectIsFoundAgain(t *testing.T) {
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {k: %s}\n---\n"
	a := newAsked(t, sources.NewRenderer(fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources: [all.yaml]\nsortOptions: {order: legacy}\nnameSuffix: -x\n")},
		"all.yaml":           {Data: fmt.Appendf(nil, config+config+config, "a", "1a", "b", "1b", "xqzja", "1c")},
	}, render.Options{}))
	for _, name := range []string{"a", "b", "xqzja"} {
		for _, field := range []string{"metadata.name", "data.k", "kind"} {
			claim := a.claim(t, []string{"ConfigMap/" + name + "-x", field})
			if got := proof.Check(a.renderer, context.Background(), a.result, claim); got.Outcome != proof.Confirmed {
				t.Errorf("%s of %s at %s: %+v", field, name, claim.Place.Position, got)
			}
		}
	}
}
