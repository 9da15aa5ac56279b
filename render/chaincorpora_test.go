package render_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree/gittree"
)

// chainCheck compares chains with what rendering the bases by themselves says.
type chainCheck struct {
	// chains counts fields with more than one step, by their number.
	chains map[int]int
	// same, missing and wrong count bases in which the step before the next
	// kustomization is the place in effect, is not told, or is another.
	same, missing, wrong int
	examples             []string
}

// TestCorporaChains renders the kustomizations that objects of real repositories went
// through by themselves: of each field, the last step up to there must be the line
// in effect there. One root in so many is looked at.
func TestCorporaChains(t *testing.T) {
	for _, bundle := range corpora(t) {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			dir, branches := clone(t, bundle)
			repo, err := gittree.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			commit, err := repo.Commit(branches[len(branches)-1])
			if err != nil {
				t.Fatal(err)
			}
			r := sources.NewRenderer(commit.FS(), render.Options{})
			d, err := r.Discover(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			c := &chainCheck{chains: map[int]int{}}
			every := locatedRoots
			if os.Getenv("PREADMIT_PROVENANCE") == "all" {
				every = 1
			}
			for i := 0; i < len(d.Roots); i += every {
				c.root(t, r, d.Roots[i])
			}
			t.Logf("fields by steps: %v; bases: %d the same, %d missing, %d wrong\n%s",
				c.chains, c.same, c.missing, c.wrong, strings.Join(c.examples[:min(len(c.examples), 20)], "\n"))
			if c.wrong > 0 {
				t.Errorf("%d steps are not those of the base rendered by itself", c.wrong)
			}
		})
	}
}

// located are a root's objects with their sources.
type locatedRoot struct {
	objects []*render.Object
	sources []*origin.Origin
}

func locateRoot(t *testing.T, r *render.Renderer, root render.Root) locatedRoot {
	t.Helper()
	result := r.Render(context.Background(), root)
	if result.Problem != nil {
		return locatedRoot{}
	}
	sources, err := r.Origins(context.Background(), result)
	if err != nil {
		t.Fatal(err)
	}
	return locatedRoot{result.Objects, sources}
}

func (c *chainCheck) root(t *testing.T, r *render.Renderer, root render.Root) {
	t.Helper()
	if root.Kind != render.KindKustomize {
		return
	}
	top := locateRoot(t, r, root)
	parts := map[string]locatedRoot{}
	for i, source := range top.sources {
		_, through := source.Kustomizations()
		for n, p := range through[:max(len(through)-1, 0)] {
			if p.Component {
				continue
			}
			dir := path.Dir(p.File)
			if _, ok := parts[dir]; !ok {
				parts[dir] = locateRoot(t, r, render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
			}
			if j := parts[dir].find(top.objects[i], source); j >= 0 {
				c.compare(root.Dir, top.objects[i], source, parts[dir].objects[j], parts[dir].sources[j], through[:n+1])
			}
		}
	}
}

// find is the object of the same kind and document; -1 when there is not just one.
func (l locatedRoot) find(o *render.Object, source *origin.Origin) int {
	found := -1
	kind, _ := o.KindAndName()
	for j, other := range l.objects {
		if k, _ := other.KindAndName(); k == kind && l.sources[j].Document() == source.Document() {
			if found >= 0 {
				return -1
			}
			found = j
		}
	}
	return found
}

func (c *chainCheck) compare(root string, o *render.Object, source *origin.Origin, before *render.Object, was *origin.Origin, through []origin.Kustomization) {
	content, old := o.Content(), before.Content()
	everyLeaf(content, "", func(field string) {
		place := was.Place(field, origin.Whole)
		if !place.Found() || !sameElements(content, old, field) {
			return
		}
		steps := source.Chain(field, origin.Whole)
		c.chains[len(steps)]++
		if len(steps) < 2 {
			return
		}
		told := slices.ContainsFunc(steps, func(s origin.Step) bool { return origin.SameLine(s.Position, place.Position) })
		var last origin.Step
		for _, s := range steps {
			// What was copied is in a file of its own.
			if s.Kind == origin.StepReplacement && origin.SameLine(s.Position, place.Position) || slices.ContainsFunc(through, func(p origin.Kustomization) bool { return p.File == s.Kustomization }) {
				last = s
			}
		}
		switch {
		case origin.SameLine(last.Position, place.Position):
			c.same++
			return
		case !told:
			c.missing++
		default:
			c.wrong++
		}
		c.examples = append(c.examples, fmt.Sprintf("%s %s: %s in %s, of %v", root, field, place.Position, through[len(through)-1].File, steps))
	})
}

// sameElements tells whether the elements of lists on the way to a field have the
// same names in both objects.
func sameElements(a, b map[string]any, field string) bool {
	for i, r := range field {
		if r != ']' {
			continue
		}
		if x, ok := origin.Field(a, field[:i+1]); ok {
			y, _ := origin.Field(b, field[:i+1])
			if name(x) != name(y) {
				return false
			}
		}
	}
	return true
}

func name(element any) any {
	if m, ok := element.(map[string]any); ok {
		return m["name"]
	}
	return fmt.Sprint(element)
}
