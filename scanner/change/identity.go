package change

import "github.com/preadmit/preadmit/render"

// Identity returns a name for all that decides where the objects of a root of the side are written, whatever the version
// of Kubernetes is, as render.Renderer.Identity does.
func (s *Side) Identity(root render.Root, rendered *render.Result) string {
	id := s.Renderer.Identity(root, rendered, s.known)
	if id == "" {
		return ""
	}
	return s.Name + " " + id
}
