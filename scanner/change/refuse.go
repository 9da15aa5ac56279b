package change

import "github.com/preadmit/preadmit/render"

// Begin reports to Options.Rendering that work on a root begins. The returned function reports its
// end.
func (s *Side) Begin(root string) (done func()) {
	if s.rendering == nil {
		return func() {}
	}
	return s.rendering(root, s.Name)
}

// Refuses reports whether a root is not to be rendered. It is false for extras, whose paths are not
// those of the trees.
func (s *Side) Refuses(root render.Root) bool {
	_, refused := s.refused[root.Dir]
	return refused && !s.Extra
}

// refusal is the result of a root that is not to be rendered.
func (s *Side) refusal(root render.Root) *render.Result {
	return &render.Result{
		Root:  root,
		Trace: render.Trace{Reads: map[string]string{}, Misses: map[string]bool{}},
		Problem: &render.Problem{
			Kind: render.ProblemRefused, Message: s.refused[root.Dir],
			Position: render.Position{Path: s.MainFile(root.Dir)},
		},
	}
}
