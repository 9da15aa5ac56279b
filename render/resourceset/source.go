package resourceset

import (
	"context"
	"errors"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Source is a Source for ResourceSets. Its roots have a Unit. They are not found in directories, but among the objects
// of other roots.
type Source struct{ tree *tree.Tree }

// New returns a Source for the ResourceSets of a tree.
func New(t *tree.Tree, _ render.Options) render.Source { return &Source{t} }

// Kind implements Source.
func (s *Source) Kind() render.RootKind { return render.KindResourceSet }

// RootFile implements Source.
func (s *Source) RootFile(string) bool { return false }

// Uses implements Source.
func (s *Source) Uses(string, []string) *render.Uses { return nil }

// Reads implements Source.
func (s *Source) Reads(string) tree.Trace { return tree.NewTrace() }

// At implements Source.
func (s *Source) At(string) (render.Root, bool) { return render.Root{}, false }

// Parts implements Source.
func (s *Source) Parts(render.Root) []render.Root { return nil }

// Manifests implements Source: no file of the tree is read.
func (s *Source) Manifests(render.Root) render.Manifests { return render.Manifests{} }

// Needs implements Source. Only the unit's object is needed, so the words of the objects are known by rendering them.
func (s *Source) Needs(root render.Root) *render.Needs {
	result := s.Render(context.Background(), root)
	in := &render.Needs{Trace: tree.NewTrace(), Problem: result.Problem, Composition: render.Composition{Generated: map[string]bool{}}}
	in.Texts = func(files [][]byte) ([][]byte, bool) {
		for _, o := range result.Objects {
			files = append(files, o.JSON)
		}
		return files, false
	}
	return in
}

// Render implements Source.
func (s *Source) Render(ctx context.Context, root render.Root) *render.Result {
	result := &render.Result{Root: root, Trace: tree.NewTrace()}
	set, made, problem := s.make(ctx, root)
	if result.Problem = problem; problem != nil {
		return result
	}
	for i, o := range made {
		object, err := set.finish(o, i)
		if err != nil {
			result.Objects, result.Problem = nil, failed(ctx, root, err)
			break
		}
		result.Objects = append(result.Objects, object)
	}
	return result
}

// make returns the objects of a root.
func (s *Source) make(ctx context.Context, root render.Root) (*Set, []built, *render.Problem) {
	switch {
	case root.Unit == nil:
		return nil, nil, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: "no object deploys this root"}
	case root.Unit.Problem != nil:
		return nil, nil, root.Unit.Problem
	}
	set, err := Parse(root.Unit.Object)
	if err != nil {
		return nil, nil, failed(ctx, root, err)
	}
	inputs, err := set.inputs(root.Unit.Inputs)
	if err != nil {
		return nil, nil, failed(ctx, root, err)
	}
	made, err := build(ctx, set, inputs)
	if err != nil {
		return nil, nil, failed(ctx, root, err)
	}
	return set, made, nil
}

// failed converts an error to a problem at its template.
func failed(ctx context.Context, root render.Root, err error) *render.Problem {
	p := &render.Problem{Kind: render.ProblemFailed, Message: err.Error()}
	field := "spec"
	if e := new(templateError); errors.As(err, &e) {
		if field = e.field; e.limit {
			p.Kind = render.ProblemRefused
		}
	}
	if p.Position = root.Unit.Position(ctx, field); p.Path == "" {
		p.Path = root.Dir
	}
	return p
}
