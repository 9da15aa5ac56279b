package kustomize

import (
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
)

// Reports contain places in the repository. Instead of a place in an artifact they have the entry that
// requires the artifact.

// atEntry moves a problem in an artifact to the entry that requires the artifact.
func atEntry(c *build.Closure, p *render.Problem) *render.Problem {
	if p == nil {
		return nil
	}
	at, ok := c.EntryOf(p.Path)
	if !ok {
		return p
	}
	out := *p
	out.Position, out.Message = at, fmt.Sprintf("%s: %s", p.Position, p.Message)
	return &out
}

// atEntries moves the places of origins in artifacts to the entries that require these.
func atEntries(c *build.Closure, all []*origin.Origin) []*origin.Origin {
	if !c.Mounts() {
		return all
	}
	out := make([]*origin.Origin, len(all))
	for i, o := range all {
		out[i] = o.Moved(func(p render.Position) (render.Position, string) {
			at, ok := c.EntryOf(p.Path)
			if !ok {
				return p, ""
			}
			return at, fmt.Sprintf("it is written in %s, which is remote", p)
		})
	}
	return out
}
