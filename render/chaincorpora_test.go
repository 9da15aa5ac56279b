package render_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
)

// chainCheck compares chains with the results of rendering the bases by themselves.
type chainCheck struct {
	// chains maps a number of steps, more than one, to the number of fields with it.
	chains map[int]int
	// same, missing and wrong count bases in which the step before the next kustomization is the effective place, is
	// missing, or is another one.
	same, missing, wrong int
	examples             []string
}

// TestCorporaChains renders the kustomizations that objects of real repositories passed through by themselves: for each
// field, the last step up to there must be the effective line there. It samples the roots.
func TestCorporaChains(t *testing.T) {
	for _, bundle := range corpora(t) {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			every, branches := locatedRoots, clone(t, bundle).branches
			if os.Getenv("PREADMIT_PROVENANCE") == "all" {
				every = 1
			}
			c := &chainCheck{chains: map[int]int{}}
			l := located(t, bundle, branches[len(branches)-1], every)
			for _, root := range l.roots {
				c.root(t, l.renderer, root)
			}
			t.Logf("fields by steps: %v; bases: %d the same, %d missing, %d wrong\n%s",
				c.chains, c.same, c.missing, c.wrong, strings.Join(c.examples[:min(len(c.examples), 20)], "\n"))
			if c.wrong > 0 {
				t.Errorf("%d steps are not those of the base rendered by itself", c.wrong)
			}
		})
	}
}

// locatedRoot is a rendered root with the origins of its objects, unless it has a problem.
type locatedRoot struct {
	result  *render.Result
	origins []*origin.Origin
}

func locateRoot(t *testing.T, r *render.Renderer, root render.Root) locatedRoot {
	t.Helper()
	l := locatedRoot{result: r.Render(context.Background(), root)}
	if l.result.Problem != nil {
		return l
	}
	var err error
	if l.origins, err = r.Origins(context.Background(), l.result); err != nil {
		t.Fatalf("%s: %v", root.Dir, err)
	}
	return l
}

// locatedTree is a sample of the roots of a branch.
type locatedTree struct {
	fsys     fs.FS
	renderer *render.Renderer
	roots    []locatedRoot
}

// lastLocated caches the tree that two tests use, by bundle, branch and sample.
var lastLocated = map[string]*locatedTree{}

// located returns every oneIn-th root of a branch. The result is cached for the next test.
func located(t *testing.T, bundle, branch string, oneIn int) *locatedTree {
	t.Helper()
	key := fmt.Sprint(bundle, branch, oneIn)
	if l := lastLocated[key]; l != nil {
		return l
	}
	fsys := clone(t, bundle).tree(t, branch)
	l := &locatedTree{fsys: fsys, renderer: sources.NewRenderer(fsys, render.Options{})}
	d, err := l.renderer.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(d.Roots); i += oneIn {
		l.roots = append(l.roots, locateRoot(t, l.renderer, d.Roots[i]))
	}
	if oneIn > 1 { // otherwise the next tree is another one
		lastLocated[key] = l
	}
	return l
}

func (c *chainCheck) root(t *testing.T, r *render.Renderer, top locatedRoot) {
	t.Helper()
	root := top.result.Root
	if root.Kind != render.KindKustomize || top.result.Problem != nil {
		return
	}
	parts := map[string]locatedRoot{}
	for i, source := range top.origins {
		_, through := source.Kustomizations()
		for n, p := range through[:max(len(through)-1, 0)] {
			if p.Component {
				continue
			}
			dir := path.Dir(p.File)
			if _, ok := parts[dir]; !ok {
				parts[dir] = locateRoot(t, r, render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
			}
			if j := parts[dir].find(top.result.Objects[i], source); j >= 0 {
				c.compare(root.Dir, top.result.Objects[i], source, parts[dir].result.Objects[j], parts[dir].origins[j], through[:n+1])
			}
		}
	}
}

// find returns the index of the only object with the same kind and document; -1 if there is not exactly one.
func (l locatedRoot) find(o *render.Object, source *origin.Origin) int {
	found := -1
	kind, _ := o.KindAndName()
	for j, s := range l.origins {
		if k, _ := l.result.Objects[j].KindAndName(); k == kind && s.Document() == source.Document() {
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
			// A replacement copies a value from another file.
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

// sameElements reports whether the elements of lists on the path of a field have the same names in both objects.
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
