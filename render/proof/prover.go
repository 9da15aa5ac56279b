package proof

import (
	"context"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// A counterfactual run proves where a field comes from: the text at a place is changed, the root is rendered
// again, and the field must have changed accordingly.

// Outcome is the result of a counterfactual run.
type Outcome int

const (
	// Undecided: the run proves nothing.
	Undecided Outcome = iota
	// Confirmed: the field became what the change to the place implies.
	Confirmed
	// Refuted: it did not become that.
	Refuted
)

func (o Outcome) String() string { return [...]string{"undecided", "confirmed", "refuted"}[o] }

// Claim states that a place of a tree wrote or removed a field of an object.
type Claim struct {
	// Object is the object's index in Result.Objects.
	Object int
	// Field is a path as for Origin.Find.
	Field string
	// Part is the part of the field's value that the place wrote.
	Part origin.Part
	// Place is the place to prove; with Removed, the place that removed the field.
	Place origin.Place
	// Element, for a claim with Removed, is an element (see Removal) that the place removed from the list at
	// Field; nil when the field itself is gone.
	Element any
}

// Proof is the result of checking a claim.
type Proof struct {
	Outcome Outcome
	// Why is the reason why the claim is refuted or undecided.
	Why string
}

// Check checks one claim about a rendered root. It takes at most 4 renders within the renderer's limits, which
// read nothing but the tree.
func Check(r *render.Renderer, ctx context.Context, result *render.Result, claim Claim) Proof {
	return New(r, result, 4).Prove(ctx, claim)
}

// Prover checks claims about one root. It caches renders of changed trees, because one change may prove the
// claims of many objects. It is not safe for concurrent use.
type Prover struct {
	renderer *render.Renderer
	result   *render.Result
	// manifests are the files of the root; nil until they are needed.
	manifests *render.Manifests
	// changed are the renders of changed trees, by path and content of the changed file.
	changed map[string]*render.Result
	// left is the number of renders that remain.
	left int
}

// New returns a Prover for a result of Render that makes at most renders renders.
func New(r *render.Renderer, result *render.Result, renders int) *Prover {
	return &Prover{renderer: r, result: result, changed: map[string]*render.Result{}, left: renders}
}

// Cost estimates the cost of one render of the root by the sizes that kustomize's time grows with. One unit is
// about 10 ms; most roots cost less than 5.
func (p *Prover) Cost() int {
	size := 0
	for _, o := range p.result.Objects {
		size += len(o.JSON)
	}
	n := len(p.result.Objects)
	return 1 + n*n/9000 + size/25_000 + p.files().Patches/12
}

// Prove checks a claim.
func (p *Prover) Prove(ctx context.Context, c Claim) Proof {
	if c.Object < 0 || c.Object >= len(p.result.Objects) {
		return undecided("there is no object %d in %s", c.Object, p.result.Root.Dir)
	}
	if c.Place.Evidence == origin.Nearest {
		return undecided("nothing is known of who wrote %s", c.Field)
	}
	before := newSubject(p.result.Objects, c)
	changes, why := p.changes(c, before)
	proof := Proof{Why: why}
	for _, change := range changes {
		if proof = p.try(ctx, c, before, change); proof.Outcome == Confirmed {
			break
		}
	}
	return proof
}

// changes returns the changes to the tree that may prove a claim, in the order to try them, or why there are
// none.
func (p *Prover) changes(c Claim, before subject) ([]change, string) {
	data, real, err := p.renderer.Tree().Load(c.Place.Path, tree.NewTrace())
	if err != nil {
		return nil, "read the place: " + err.Error()
	}
	if p.outside(c, real, data) {
		return nil, "what is written there is no part of the root"
	}
	f := sourceFile{path: real, data: data, marker: markerFor(data, before.object.JSON)}
	switch use := p.use(real); {
	case c.Place.Evidence == origin.Removed:
		return f.withoutRemoval(c.Place.Position)
	case use == usedAsValue && c.Place.Line == 1:
		return f.appended(), ""
	case use == usedAsLines:
		return f.appendedTo(c.Place.Line)
	case !before.found:
		return nil, "the object has no such field"
	case !before.scalar():
		return f.withEntry(c.Place.Position)
	}
	return f.withScalar(c.Place.Position, before.target(c))
}

// outside reports whether a place is no part of a root: in a file that the root does not read, or in an object
// that defines such roots, like an Application or ApplicationSet, and is not the claim's object. A change
// there does not affect the root.
func (p *Prover) outside(c Claim, real string, data []byte) bool {
	asking := p.result.Root.Object
	if asking == (render.ObjectRef{}) {
		return false
	}
	if _, read := p.result.Trace.Reads[real]; !read {
		return true
	}
	for _, chunk := range slices.Backward(tree.SplitChunks(tree.Normalize(data))) {
		if chunk.Line >= c.Place.Line {
			continue
		}
		var o map[string]any
		_ = yaml.Unmarshal([]byte(chunk.Text), &o)
		kind, name := render.KindAndName(o)
		aboutKind, aboutName := render.KindAndName(p.result.Objects[c.Object].Content())
		return (kind == asking.Kind || kind == asking.Kind+"Set") && (kind != aboutKind || name != aboutName)
	}
	return false
}

// try renders the root with a change and compares.
func (p *Prover) try(ctx context.Context, c Claim, before subject, change change) Proof {
	after := p.render(ctx, change)
	if after == nil {
		return undecided("it would take more renders than are allowed")
	}
	if after.Problem != nil {
		return undecided("the changed tree does not render: %s", after.Problem.Message)
	}
	object := before.again(p.result.Objects, after.Objects, change.marker)
	if object == nil {
		return undecided("the object is not found again in the changed tree")
	}
	return before.compare(c, object.Content(), change)
}

// render renders the root of the tree with a change, once for each change; nil when
// no more renders are left.
func (p *Prover) render(ctx context.Context, change change) *render.Result {
	key := change.path + "\x00" + tree.ObjectID(change.data)
	if known, ok := p.changed[key]; ok {
		return known
	}
	if p.left == 0 {
		return nil
	}
	p.left--
	after := p.renderer.Changed(change.path, change.data, p.result.Trace).Render(ctx, p.result.Root)
	if ctx.Err() == nil {
		p.changed[key] = after
	}
	return after
}

// fileUse is the way in which generators use the content of a file.
type fileUse int

const (
	usedAsYAML fileUse = iota
	usedAsValue
	usedAsLines
)

// use returns how generators use a file.
func (p *Prover) use(real string) fileUse {
	switch files := p.files(); {
	case files.Values[real]:
		return usedAsValue
	case files.Lines[real]:
		return usedAsLines
	}
	return usedAsYAML
}

// files returns the files of the root.
func (p *Prover) files() *render.Manifests {
	if p.manifests == nil {
		found := p.renderer.Manifests(p.result.Root)
		p.manifests = &found
	}
	return p.manifests
}

func undecided(format string, args ...any) Proof {
	return Proof{Outcome: Undecided, Why: fmt.Sprintf(format, args...)}
}
