package change

import (
	"strings"

	"github.com/preadmit/preadmit/render"
)

// Identity returns a name for all that decides where the objects of a root are written, whatever the version of
// Kubernetes is: the root, and all that its units are made of. It is empty where the version may decide.
// rendered is what the root renders to.
func (s *Side) Identity(root render.Root, rendered *render.Result) string {
	words := []string{s.Name}
	seen := map[render.RootID]bool{root.RootID: true}
	for next := []render.Root{root}; len(next) > 0; {
		root, next = next[0], next[1:]
		id := s.Renderer.Identity(root, rendered)
		rendered = nil // of others it is not looked up
		if id == "" {
			return ""
		}
		words = append(words, id)
		for _, other := range madeOf(root.Unit) {
			if seen[other] || other == (render.RootID{}) {
				continue
			}
			seen[other] = true
			from, ok := s.known(other)
			if !ok {
				return ""
			}
			next = append(next, from)
		}
	}
	return strings.Join(words, " ")
}

// madeOf are the roots that render what a unit is made of.
func madeOf(u *render.Unit) []render.RootID {
	if u == nil {
		return nil
	}
	roots := []render.RootID{u.Parent}
	for _, v := range u.Variables {
		roots = append(roots, v.Written.Root)
	}
	for _, in := range u.Inputs {
		roots = append(roots, in.Written.Root)
	}
	for _, f := range u.Revision {
		roots = append(roots, f.Root)
	}
	if u.Release != nil {
		for _, f := range u.Release.Named {
			roots = append(roots, f.Root)
		}
		for _, r := range u.Release.References {
			roots = append(roots, r.Written.Root)
		}
	}
	return roots
}
