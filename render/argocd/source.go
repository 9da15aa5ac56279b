package argocd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/plain"
	"github.com/preadmit/preadmit/render/tree"
)

// Renderer is a Source for Applications. Its roots have a Unit with an Application. They are not found in directories,
// but among the objects of other roots.
type Renderer struct {
	tree   *tree.Tree
	opts   render.Options
	plain  render.Source
	charts *charts
}

// New returns a Source for the Applications of a tree.
func New(t *tree.Tree, opts render.Options) render.Source {
	opts.Cache = nil
	return &Renderer{tree: t, opts: opts, plain: plain.LastOfRepeated(t), charts: newCharts(t)}
}

// Kind implements Source.
func (r *Renderer) Kind() render.RootKind { return render.KindArgoCD }

// RootFile implements Source.
func (r *Renderer) RootFile(string) bool { return false }

// Uses implements Source.
func (r *Renderer) Uses(string, []string) *render.Uses { return nil }

// Reads implements Source.
func (r *Renderer) Reads(string) tree.Trace { return tree.NewTrace() }

// At implements Source.
func (r *Renderer) At(string) (render.Root, bool) { return render.Root{}, false }

// Parts implements Source. They are those of the kustomizations among the sources whose files are in the repository.
func (r *Renderer) Parts(root render.Root) (all []render.Root) {
	u, problem := r.prepare(root)
	if problem != nil {
		return nil
	}
	for _, p := range u.parts {
		if k, ok := p.maker.(*kustomizePart); ok && p.top == "." {
			all = append(all, k.inner.Parts(k.asRoot())...)
		}
	}
	return all
}

// unit is a root that is being rendered.
type unit struct {
	*Renderer
	root  render.Root
	app   *Application
	parts []*part
	// trace is what was read, or found missing, while the parts were prepared.
	trace tree.Trace
}

// part is a source of an Application.
type part struct {
	*unit
	index  int
	source *Source
	from   *render.ApplicationSource
	env    environment
	// top is the top directory of the source in the tree, dir the directory of its path.
	top, dir string
	tool     Tool
	// overridden are the files that override options of the source.
	overridden []overrides
	maker
}

// maker renders the objects of a part.
type maker interface {
	// needs returns what is read, or found missing.
	needs() *render.Needs
	// make renders the objects.
	make(ctx context.Context, trace tree.Trace) (*made, *render.Problem)
	// manifests returns the files that the part consists of.
	manifests() render.Manifests
}

// made are the objects of a part.
type made struct {
	objects     []*render.Object
	diagnostics []render.Diagnostic
	// lacks is what is missing in the objects; nil for nothing.
	lacks *render.Lack
	// origins returns the origins of the objects, in their order.
	origins originsOf
}

// prepare returns the parts of a root, or the problem that prevents it.
func (r *Renderer) prepare(root render.Root) (*unit, *render.Problem) {
	u := &unit{Renderer: r, root: root, trace: tree.NewTrace()}
	switch {
	case root.Unit == nil || root.Unit.Problem == nil && root.Unit.Application == nil:
		return u, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: "no object deploys this root"}
	case root.Unit.Problem != nil:
		u.traceSources()
		return u, root.Unit.Problem
	}
	var err error
	if u.app, err = Parse(root.Unit.Object); err != nil {
		return u, u.failed("spec", err)
	}
	for i, s := range u.app.AllSources() {
		if s.IsReference() {
			continue
		}
		p, problem := u.part(i, &s)
		if problem != nil {
			if problem.Kind == render.ProblemRefused {
				u.traceSources()
			}
			return u, problem
		}
		u.parts = append(u.parts, p)
	}
	return u, nil
}

// part prepares the part of a source.
func (u *unit) part(i int, s *Source) (*part, *render.Problem) {
	p := &part{unit: u, index: i, source: s, from: &u.root.Unit.Application.Sources[i], top: "."}
	p.env = environmentOf(u.app, u.root.Unit.Application.Instance, s)
	field := u.app.SourceField(i)
	if p.from.IsChart() {
		p.tool = ToolHelm
		p.maker = &helmPart{part: p}
		return p, nil
	}
	if p.from.Artifact != nil {
		top, ok, err := u.tree.Mount(p.from.Artifact.Requested())
		if !ok {
			err = tree.ErrNoArtifacts
		}
		if err != nil {
			return nil, u.failed(field+".repoURL", fmt.Errorf("use the source: %w", err))
		}
		p.top = top
	}
	if path.IsAbs(s.Path) {
		return nil, u.failed(field+".path", fmt.Errorf("%s: app path is absolute", s.Path))
	}
	in := path.Join(".", s.Path)
	if in == ".." || strings.HasPrefix(in, "../") {
		return nil, u.failed(field+".path", fmt.Errorf("%s: app path outside root", s.Path))
	}
	p.dir = path.Join(p.top, in)
	u.tree.TraceFile(p.dir, u.trace)
	if to := u.tree.Resolve(p.dir); to.Err != nil {
		return nil, u.failed(field+".path", fmt.Errorf("%s: app path does not exist", in))
	} else if !to.IsDir {
		return nil, u.failed(field+".path", fmt.Errorf("%s: app path is not a directory", in))
	}
	var err error
	if p.source, p.overridden, err = override(u.tree, s, p.dir, u.root.Unit.Application.Instance, u.trace); err != nil {
		return nil, u.failed(field, err)
	}
	if p.tool, err = toolOf(u.tree, p.source, p.dir, u.trace); err != nil {
		return nil, u.failed(field, err)
	}
	if slices.Contains(u.root.Unit.Application.Disabled, string(p.tool)) {
		return nil, u.refused(field, fmt.Sprintf("Argo CD is set not to use %s: what it makes of the source instead is not followed", p.tool))
	}
	switch p.tool {
	case ToolHelm:
		p.maker = &helmPart{part: p}
	case ToolKustomize:
		return p, p.kustomization()
	case ToolPlugin:
		p.tracePlugin()
		return nil, u.refused(field+".plugin", "a config management plugin makes what is applied: it is not executed")
	default:
		p.maker = &directoryPart{part: p}
	}
	return p, nil
}

// failed converts an error about a field to a problem.
func (u *unit) failed(field string, err error) *render.Problem {
	if p := render.OverLimit(err); p != nil {
		return p
	}
	p := &render.Problem{Kind: render.ProblemFailed, Position: u.written(field), Message: err.Error()}
	var file *fileError
	if errors.As(err, &file) {
		if p = u.inFile(file.path, tree.ErrorLineIn(file.text, file.err), file.Error(), field); p == nil {
			return nil
		}
	}
	return p
}

// inFile returns a problem in a file. For a file of an artifact, its position is the field of the source.
func (u *unit) inFile(name string, line int, message, field string) *render.Problem {
	p := &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name, Line: line}, Message: message}
	return u.atSource(p, field)
}

func (u *unit) refused(field, why string) *render.Problem {
	return &render.Problem{Kind: render.ProblemRefused, Position: u.written(field), Message: why}
}

// atSource moves a problem in an artifact to the field of the source.
func (u *unit) atSource(p *render.Problem, field string) *render.Problem {
	if p == nil || !overlaid.Under(p.Path) {
		return p
	}
	out := *p
	out.Position, out.Message = u.written(field+".repoURL"), fmt.Sprintf("%s: %s", p.Position, p.Message)
	return &out
}

// lackAtSource moves what is missing in an artifact to the field of the source.
func (u *unit) lackAtSource(l *render.Lack, p *part) *render.Lack {
	if l == nil {
		return nil
	}
	at := u.atSource(&render.Problem{Position: l.Position, Message: l.Why}, u.app.SourceField(p.index))
	return &render.Lack{Position: at.Position, Why: at.Message, What: l.What}
}

// Needs implements Source.
func (r *Renderer) Needs(root render.Root) *render.Needs {
	u, problem := r.prepare(root)
	in := &render.Needs{Trace: u.trace, Problem: problem, Composition: render.Composition{Generated: map[string]bool{}}}
	if problem != nil {
		return in
	}
	var texts []func([][]byte) ([][]byte, bool)
	var resources []map[string]bool
	for _, p := range u.parts {
		more := p.needs()
		addTrace(in.Trace, more.Trace)
		if in.Problem == nil {
			in.Problem = u.atSource(more.Problem, u.app.SourceField(p.index))
		}
		in.Lacks = in.Lacks.And(u.lackAtSource(more.Lacks, p))
		in.Artifacts = append(in.Artifacts, more.Artifacts...)
		in.Free, in.Charts = in.Free || more.Free, in.Charts || more.Charts
		in.Composed, in.Renamed = in.Composed || more.Composed, in.Renamed || more.Renamed
		resources = append(resources, more.Resources)
		in.Patched = in.Patched || more.Patched
		in.Affixes = append(in.Affixes, more.Affixes...)
		for kind := range more.Generated {
			in.Generated[kind] = true
		}
		if more.Texts != nil {
			texts = append(texts, more.Texts)
		}
	}
	if len(resources) == 1 { // another source may use a resource file of one source for something else
		in.Resources = resources[0]
	}
	if n := u.createdNamespace(nil); n != nil { // no file contains this object
		texts = append(texts, func(files [][]byte) ([][]byte, bool) { return append([][]byte{n.JSON}, files...), false })
	}
	if len(texts) > 0 {
		in.Texts = func(files [][]byte) (all [][]byte, anyName bool) {
			for _, t := range texts {
				more, any := t(files)
				all, anyName = append(all, more...), anyName || any
			}
			return all, anyName
		}
	}
	return in
}

func addTrace(to, from tree.Trace) {
	for name, id := range from.Reads {
		to.Reads[name] = id
	}
	for name := range from.Misses {
		to.Misses[name] = true
	}
}

// Render implements Source.
func (r *Renderer) Render(ctx context.Context, root render.Root) *render.Result {
	u, problem := r.prepare(root)
	result := &render.Result{Root: root, Trace: u.trace, Problem: problem}
	if problem != nil {
		return result
	}
	all, problem := u.makeAll(ctx, result.Trace)
	if problem != nil {
		result.Problem = problem
		return result
	}
	done := u.finish(all)
	result.Objects, result.Diagnostics = done.objects, done.diagnostics
	for i, m := range all {
		result.Lacks = result.Lacks.And(u.lackAtSource(m.lacks, u.parts[i]))
	}
	return result
}

// makeAll renders the objects of all parts.
func (u *unit) makeAll(ctx context.Context, trace tree.Trace) ([]*made, *render.Problem) {
	var all []*made
	for _, p := range u.parts {
		m, problem := p.make(ctx, trace)
		if problem != nil {
			return nil, u.atSource(problem, u.app.SourceField(p.index))
		}
		all = append(all, m)
	}
	return all, nil
}

// Manifests implements Source.
func (r *Renderer) Manifests(root render.Root) render.Manifests {
	u, problem := r.prepare(root)
	out := render.Manifests{}
	if problem != nil {
		return out
	}
	for _, p := range u.parts {
		if p.top != "." || p.from.IsChart() {
			continue
		}
		m := p.manifests()
		out.Files = append(out.Files, m.Files...)
		out.Patches += m.Patches
		for name := range m.Values {
			if out.Values == nil {
				out.Values = map[string]bool{}
			}
			out.Values[name] = true
		}
		for name := range m.Lines {
			if out.Lines == nil {
				out.Lines = map[string]bool{}
			}
			out.Lines[name] = true
		}
	}
	return out
}
