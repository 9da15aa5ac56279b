package flux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Source is a Source of what Flux Kustomizations apply. Its roots have a Unit; they are not
// found in directories, but in what other roots render to.
type Source struct {
	tree  *tree.Tree
	opts  render.Options
	views *Views
	// files is what kustomize makes of the tree as it is.
	files render.Source
}

// New makes a Source of the Flux Kustomizations of a tree.
func New(t *tree.Tree, opts render.Options) render.Source {
	// Whatever the user wants of kustomizations, the controller has no restrictions.
	opts.LoadRestrictor = render.LoadRestrictionsNone
	opts.Cache = nil
	// The controller is built without a version of kustomize (fluxcd/kustomize-controller#960).
	opts.KustomizeVersion = "(devel)"
	opts.NoCharts = "helmCharts are not inflated by kustomize-controller: the build fails, since Helm is not enabled"
	return &Source{tree: t, opts: opts, views: NewViews(t), files: kustomize.New(t, opts)}
}

// Kind implements Source.
func (s *Source) Kind() render.RootKind { return render.KindFlux }

// RootFile implements Source.
func (s *Source) RootFile(string) bool { return false }

// Uses implements Source.
func (s *Source) Uses(string, []string) *render.Uses { return nil }

// Reads implements Source.
func (s *Source) Reads(string) tree.Trace { return tree.NewTrace() }

// At implements Source.
func (s *Source) At(string) (render.Root, bool) { return render.Root{}, false }

// Parts implements Source: of a refused kustomization, what is left after leaving out what
// is refused.
func (s *Source) Parts(render.Root) []render.Root { return nil }

// unit is a root that is being built.
type unit struct {
	source *Source
	root   render.Root
	object *Kustomization
	view   *viewed
	// dir is the directory that is built, in what the unit is made of: this repository or, at
	// home, an artifact.
	dir  string
	home *mounted
	*generated
	// overlay is the view with the generated file, and inner what renders it.
	overlay *tree.Tree
	inner   render.Source
	nodes
	// leftOut are the objects of the build that substitution made none of.
	leftOut []*render.Object
}

// prepare generates the kustomization of a root. The problem is why that cannot be done.
func (s *Source) prepare(root render.Root) (*unit, *render.Problem) {
	u := &unit{source: s, root: root, dir: root.Dir}
	if root.Unit == nil {
		return u, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: "no object asks for this root"}
	}
	if root.Unit.Problem != nil {
		return u, root.Unit.Problem
	}
	var err error
	if u.object, err = Parse(root.Unit.Object); err != nil {
		return u, u.failed(err)
	}
	of, home, err := s.views.in(root.Unit)
	if err != nil {
		return u, u.failed(fmt.Errorf("use the source: %w", err))
	}
	if u.home = home; home != nil {
		u.dir = path.Join(".", path.Clean("/" + u.object.Spec.Path)[1:])
	}
	if u.view, err = of.of(root.Unit.Checkout); err != nil {
		return u, u.failed(fmt.Errorf("read .sourceignore files: %w", err))
	}
	if to := u.view.tree.Resolve(u.dir); to.Err != nil || !to.IsDir {
		return u, u.missing()
	}
	if u.generated, err = generate(u.view, u.dir, &u.object.Spec); err != nil {
		return u, u.failed(err)
	}
	u.overlay = s.tree.Beside(&overlay{u.view.view, u.files})
	u.inner = kustomize.New(u.overlay, s.opts)
	return u, nil
}

// failed is the problem that an error is.
func (u *unit) failed(err error) *render.Problem {
	if p := render.OverLimit(err); p != nil {
		return p
	}
	p := &render.Problem{Kind: render.ProblemFailed, Position: u.written(""), Message: err.Error()}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		p.Position = tree.Position{Path: u.inTree(syntax.path), Line: tree.ErrorLine(syntax.err)}
		p.Message = tree.YamlPrefix.ReplaceAllString(syntax.Error(), "")
		p = u.atSource(p)
	}
	var field *fieldError
	if errors.As(err, &field) {
		p.Position = u.written(field.path)
	}
	var substitution *substitutionError
	if errors.As(err, &substitution) {
		if at := u.builtFrom(substitution.index, substitution.field); at.Path != "" {
			p.Position = at
		}
	}
	return p
}

// builtFrom is where a field of an object is written before substitution, going by a build of its own.
func (u *unit) builtFrom(index int, field string) (at tree.Position) {
	ctx := context.Background()
	inner := u.inner.Render(ctx, u.asKustomization())
	if inner.Problem != nil {
		return at
	}
	built, err := u.inner.Origins(ctx, inner)
	if err != nil || index >= len(built) {
		return at
	}
	at = built[index].Document()
	if place := built[index].Place(field, origin.Whole); field != "" && place.Position.Path != "" {
		at = place.Position
	}
	return u.atSource(&render.Problem{Position: u.real(at)}).Position
}

// missing says that there is nothing at spec.path.
func (u *unit) missing() *render.Problem {
	why := "kustomization path not found: there is no directory " + u.dir
	switch to := u.source.tree.Resolve(u.inTree(u.dir)); {
	case to.Err == nil && to.IsDir:
		why = fmt.Sprintf("kustomization path not found: %s is not in the source, which leaves it out", u.dir)
	case u.home != nil:
		why += " in " + u.root.Unit.Artifact.Asked().String()
	}
	return &render.Problem{Kind: render.ProblemFailed, Position: u.written(""), Message: why}
}

// written is where a field of the object that asks for the unit is written; the directory
// when the repository does not hold it.
func (u *unit) written(path string) tree.Position {
	if at := u.root.Unit.Position(context.Background(), path); at.Path != "" {
		return at
	}
	return tree.Position{Path: u.root.Dir}
}

// asKustomization is the root that kustomize renders.
func (u *unit) asKustomization() render.Root {
	return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: u.dir}}
}

// Render implements Source.
func (s *Source) Render(ctx context.Context, root render.Root) *render.Result {
	u, problem := s.prepare(root)
	if problem != nil {
		return &render.Result{Root: root, Trace: u.traceClaimed(), Problem: problem}
	}
	inner := u.inner.Render(ctx, u.asKustomization())
	result := &render.Result{Root: root, Trace: u.realTrace(inner.Trace), Diagnostics: inner.Diagnostics}
	if result.Problem = u.realProblem(inner.Problem); result.Problem != nil {
		return result
	}
	if result.Objects, result.Problem = u.finish(inner.Objects); result.Problem != nil {
		result.Objects = nil
		return result
	}
	result.Lacks, result.Diagnostics = u.realLack(inner.Lacks), append(result.Diagnostics, u.warnings()...)
	return result
}

// realLack is what the overlay lacks, with its place in the tree.
func (u *unit) realLack(l *render.Lack) *render.Lack {
	if l == nil {
		return nil
	}
	real := *l
	p := u.realProblem(&render.Problem{Position: l.Position, Message: l.Why})
	real.Position, real.Why = p.Position, p.Message
	return &real
}

// realProblem is a problem of the overlay as one of the tree.
func (u *unit) realProblem(p *render.Problem) *render.Problem {
	if p == nil {
		return nil
	}
	real := *p
	real.Position = u.real(p.Position)
	return u.atSource(&real)
}

// realTrace is what was read of the overlay as read of the tree.
func (u *unit) realTrace(of tree.Trace) tree.Trace {
	trace := u.traceAbove()
	for name := range of.Misses {
		u.source.tree.TraceFile(u.inTree(name), trace)
		u.ignored(name, trace)
	}
	for name, id := range of.Reads {
		if _, made := u.files[name]; !made {
			trace.Reads[u.inTree(name)] = id
			u.ignored(name, trace)
		}
	}
	u.source.tree.TraceFile(u.inTree(u.path), trace)
	u.ignored(u.path, trace)
	if u.listed {
		u.source.tree.AddListing(u.inTree(u.dir), trace)
	}
	return trace
}

// ignored notes the .sourceignore files that decide whether a path is in the source.
func (u *unit) ignored(name string, trace tree.Trace) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		file := u.inTree(path.Join(dir, ".sourceignore"))
		if trace.Misses[file] || trace.Reads[file] != "" {
			break
		}
		u.source.tree.TraceFile(file, trace)
		if dir == "." {
			break
		}
	}
	if u.view != nil && u.view.isDefault(name) { // any .sourceignore file decides
		u.source.tree.AddListing(u.inTree("."), trace)
	}
}

// traceClaimed notes what a unit is about that is not built: its directory with all files at and below it, where
// the object says which it is.
func (u *unit) traceClaimed() tree.Trace {
	trace := u.traceAbove()
	unit := u.root.Unit
	if unit == nil || unit.Artifact != nil {
		return trace
	}
	if unit.Problem != nil {
		object, err := Parse(unit.Object)
		if err != nil || path.Join(".", path.Clean("/" + object.Spec.Path)[1:]) != u.root.Dir {
			return trace
		}
	}
	u.source.tree.TraceBelow(u.root.Dir, trace)
	return trace
}

// traceAbove notes that the directory is there.
func (u *unit) traceAbove() tree.Trace {
	trace := tree.NewTrace()
	if u.root.Unit != nil && u.root.Unit.Problem == nil {
		u.source.tree.TraceFile(u.inTree(u.dir), trace)
		u.ignored(path.Join(u.dir, "kustomization.yaml"), trace)
	}
	return trace
}

// Manifests implements Source.
func (s *Source) Manifests(root render.Root) render.Manifests {
	u, problem := s.prepare(root)
	if problem != nil {
		return render.Manifests{}
	}
	if u.home != nil { // no file of the repository
		return render.Manifests{}
	}
	m := u.inner.Manifests(u.asKustomization())
	m.Files = slices.DeleteFunc(m.Files, func(name string) bool {
		_, made := u.files[name]
		return made && (name != u.path || u.original == nil)
	})
	return m
}

var _ fs.FS = (*overlay)(nil)
