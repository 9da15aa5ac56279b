package render

import (
	"errors"
	"io/fs"
)

// placed is an object of a plain root with where it was written.
type placed struct {
	listed
	file     string
	document int // its index in the file
}

// renderPlain reads the files of a plain root. One broken document fails the
// root: an object must not go missing unnoticed.
func (r *Renderer) renderPlain(root Root) *Result {
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

func (r *Renderer) manifests(root Root, trace Trace) ([]placed, *Problem) {
	var out []placed
	for _, name := range root.Files {
		found, problem := r.tree.manifest(name, trace)
		if problem != nil {
			return nil, problem
		}
		out = append(out, found...)
	}
	return out, nil
}

// manifest reads one manifest file.
func (t *tree) manifest(name string, trace Trace) ([]placed, *Problem) {
	data, real, err := t.load(name, trace)
	if err != nil {
		return nil, unreadable(name, err)
	}
	f := t.decodeManifest(real, data)
	if problem := f.problem(); problem != nil {
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

func (s *syntax) problem() *Problem {
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
