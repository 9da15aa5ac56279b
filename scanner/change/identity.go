package change

import "github.com/preadmit/preadmit/render"

// Identity returns a name for everything that decides where the objects of a root are written, independent of the
// Kubernetes version. See render.Renderer.Identity.
func (s *Side) Identity(root render.Root, rendered *render.Result) string {
	id := s.Renderer.Identity(root, rendered, s.known)
	if id == "" {
		return ""
	}
	return s.Name + " " + id
}
