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

// Source is a Source for Flux Kustomizations. Its roots have a Unit. They are not found in directories, but among the
// objects of other roots.
type Source struct {
	tree  *tree.Tree
	opts  render.Options
	views *Views
	// files renders kustomizations of the tree without an overlay.
	files render.Source
}

// New returns a Source for the Flux Kustomizations of a tree.
func New(t *tree.Tree, opts render.Options) render.Source {
	// The controller has no load restrictions, regardless of the user's option.
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

// Parts implements Source. They are those of the kustomization that is built, if its files are in the repository.
func (s *Source) Parts(root render.Root) []render.Root {
	u, problem := s.prepare(root)
	if problem != nil || u.home != nil {
		return nil
	}
	return u.inner.Parts(u.asKustomization())
}

// unit is a root that is being built.
type unit struct {
	source *Source
	root   render.Root
	object *Kustomization
	view   *viewed
	// dir is the directory to build in the unit's source: in this repository, or in the artifact at home.
	dir  string
	home *mounted
	*generated
	// overlay is the view with the generated file, and inner renders it.
	overlay *tree.Tree
	inner   render.Source
	nodes
	// leftOut are the objects of the build that are no valid objects after substitution.
	leftOut []*render.Object
}

// prepare generates the kustomization of a root, or returns the problem that prevents it.
func (s *Source) prepare(root render.Root) (*unit, *render.Problem) {
	u := &unit{source: s, root: root, dir: root.Dir}
	if root.Unit == nil {
		return u, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: "no object deploys this root"}
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

// failed converts an error to a problem.
func (u *unit) failed(err error) *render.Problem {
	if p := render.OverLimit(err); p != nil {
		return p
	}
	p := &render.Problem{Kind: render.ProblemFailed, Position: u.written(""), Message: err.Error()}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		p.Position = tree.Position{Path: u.inTree(syntax.path), Line: tree.ErrorLineIn(syntax.text, syntax.err)}
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

// builtFrom returns where a field of an object is written, before substitution. It builds the root again.
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

// missing returns the problem of a spec.path that does not exist.
func (u *unit) missing() *render.Problem {
	why := "kustomization path not found: there is no directory " + u.dir
	switch to := u.source.tree.Resolve(u.inTree(u.dir)); {
	case to.Err == nil && to.IsDir:
		why = fmt.Sprintf("kustomization path not found: %s is not in the source, which leaves it out", u.dir)
	case u.home != nil:
		why += " in " + u.root.Unit.Artifact.Requested().String()
	}
	return &render.Problem{Kind: render.ProblemFailed, Position: u.written(""), Message: why}
}

// written returns where a field of the unit's object is written, or the directory if the object is not in the
// repository.
func (u *unit) written(path string) tree.Position {
	if at := u.root.Unit.Position(context.Background(), path); at.Path != "" {
		return at
	}
	return tree.Position{Path: u.root.Dir}
}

// asKustomization returns the root that kustomize renders.
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

// realLack converts the position of a Lack of the overlay to one in the tree.
func (u *unit) realLack(l *render.Lack) *render.Lack {
	if l == nil {
		return nil
	}
	real := *l
	p := u.realProblem(&render.Problem{Position: l.Position, Message: l.Why})
	real.Position, real.Why = p.Position, p.Message
	return &real
}

// realProblem converts the position of a problem of the overlay to one in the tree.
func (u *unit) realProblem(p *render.Problem) *render.Problem {
	if p == nil {
		return nil
	}
	real := *p
	real.Position = u.real(p.Position)
	return u.atSource(&real)
}

// realTrace converts a trace of the overlay to one of the tree.
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

// ignored records the .sourceignore files that decide whether a path is in the source.
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
	if u.view != nil && u.view.isDefault(name) { // then the presence of any .sourceignore file matters
		u.source.tree.AddListing(u.inTree("."), trace)
	}
}

// traceClaimed returns the trace of a unit that is not built: its directory with all files at and below it, if the
// object names the directory.
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

// traceAbove returns a trace of the directory itself.
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
	if u.home != nil { // its files are not in the repository
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
