package render

import (
	"context"
	"errors"
	"io/fs"
)

// placed is an object of a plain root with where it was written.
type placed struct {
	listed
	file     string
	document int // its index in the file
}

// plainSource is a Source of directories of manifests.
type plainSource struct{ tree *tree }

// newPlainSource makes a Source of the directories of manifests of a tree.
func newPlainSource(t *tree, _ Options) SourceOf { return &plainSource{t} }

// Kind implements SourceOf.
func (r *plainSource) Kind() RootKind { return KindPlain }

// RootFile implements SourceOf: a directory of manifests is a root when nothing else
// makes it one.
func (r *plainSource) RootFile(string) bool { return false }

// Uses implements SourceOf.
func (r *plainSource) Uses(string, []string) *Uses { return nil }

// Reads implements SourceOf.
func (r *plainSource) Reads(string) Trace { return newTrace() }

// At implements SourceOf.
func (r *plainSource) At(string) (Root, bool) { return Root{}, false }

// Parts implements SourceOf: a broken file breaks the root.
func (r *plainSource) Parts(Root) []Root { return nil }

// Needs implements SourceOf.
func (r *plainSource) Needs(root Root) *Inputs {
	in := &Inputs{Trace: newTrace()}
	for _, name := range root.Files {
		r.tree.traceFile(name, in.Trace)
	}
	return in
}

// Manifests implements SourceOf.
func (r *plainSource) Manifests(root Root) Manifests { return Manifests{Files: root.Files} }

// Render implements SourceOf. It reads the files of a plain root. One broken document fails the
// root: an object must not go missing unnoticed.
func (r *plainSource) Render(_ context.Context, root Root) *Result {
	result := &Result{Root: root, Trace: newTrace()}
	found, problem := r.manifests(root, result.Trace)
	if problem != nil {
		result.Problem = problem
		return result
	}
	for i, p := range found {
		result.Objects = append(result.Objects, &Object{JSON: p.json, Index: i})
	}
	return result
}

func (r *plainSource) manifests(root Root, trace Trace) ([]placed, *Problem) {
	var out []placed
	for _, name := range root.Files {
		found, problem := readManifest(r.tree, name, trace)
		if problem != nil {
			return nil, problem
		}
		out = append(out, found...)
	}
	return out, nil
}

// manifest reads one manifest file.
func readManifest(t *tree, name string, trace Trace) ([]placed, *Problem) {
	data, real, err := t.load(name, trace)
	if err != nil {
		return nil, unreadable(name, err)
	}
	f := t.decodeManifest(real, data)
	if problem := fileProblem(f); problem != nil {
		return nil, problem
	}
	var out []placed
	for i, doc := range f.documents {
		for _, l := range doc.objects {
			out = append(out, placed{l, real, i})
		}
	}
	return out, nil
}

func problemOf(s *syntax) *Problem {
	if s.refused {
		return &Problem{Kind: ProblemRefused, Position: s.Position, Message: s.message}
	}
	return &Problem{Kind: ProblemFailed, Position: s.Position, Message: s.message}
}

func unreadable(name string, err error) *Problem {
	if p := costly(err); p != nil {
		return p
	}
	message := err.Error()
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		message = pathErr.Err.Error()
	}
	return &Problem{Kind: ProblemFailed, Position: Position{Path: name}, Message: "cannot be read: " + message}
}
