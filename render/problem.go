package render

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

// ManifestProblem returns the first problem that prevents the file from being rendered; nil if there is none.
func ManifestProblem(f *tree.ManifestFile) *Problem {
	for _, doc := range f.Documents {
		if doc.Bad != nil {
			return SyntaxProblem(doc.Bad)
		}
	}
	if f.Bad != nil {
		return SyntaxProblem(f.Bad)
	}
	return nil
}

func SyntaxProblem(s *tree.SyntaxError) *Problem {
	if s.Refused {
		return &Problem{Kind: ProblemRefused, Position: s.Position, Message: s.Message}
	}
	return &Problem{Kind: ProblemFailed, Position: s.Position, Message: s.Message}
}

func Unreadable(name string, err error) *Problem {
	if p := OverLimit(err); p != nil {
		return p
	}
	message := err.Error()
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		message = pathErr.Err.Error()
	}
	return &Problem{Kind: ProblemFailed, Position: tree.Position{Path: name}, Message: "cannot be read: " + message}
}

// ProblemKind is the kind of reason why a root, or a part of it, could not be rendered.
type ProblemKind string

const (
	// ProblemRefused: rendering would need a network, a program or unbounded
	// resources, so it was not tried (remote bases, plugins, Helm, alias bombs).
	// The root's verdict is indeterminate.
	ProblemRefused ProblemKind = "refused"
	// ProblemFailed: the root is broken (kustomize fails, YAML does not parse).
	ProblemFailed ProblemKind = "failed"
)

// Problem is the reason why a root has no objects, for the author of the pull request.
type Problem struct {
	Kind ProblemKind
	tree.Position
	Message string
	// Original is the renderer's own message, if Message differs from it.
	Original string `json:",omitempty"`
	// Locate, when set, finds the line that causes the problem, which is slow; Position is a directory then.
	Locate func() tree.Position `json:"-"`
}

// Place returns the line that causes the problem, or the file or directory.
func (p *Problem) Place() tree.Position {
	if p.Locate != nil {
		return p.Locate()
	}
	return p.Position
}

// OverLimit returns the problem of a file over a limit; nil for any other error.
func OverLimit(err error) *Problem {
	var big *tree.LimitError
	if errors.As(err, &big) {
		return &Problem{Kind: ProblemRefused, Position: tree.Position{Path: big.Path}, Message: "the file" + strings.TrimPrefix(big.Error(), big.Path)}
	}
	var bomb *tree.LocatedExpansionError
	if errors.As(err, &bomb) {
		return &Problem{Kind: ProblemRefused, Position: bomb.At, Message: bomb.Message}
	}
	return nil
}
