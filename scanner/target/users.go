package target

import (
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// UserOf returns the user who applies the objects of a root.
func (t *Target) UserOf(root render.Root) user.Info {
	if t.userSet || root.Unit == nil || root.Unit.Apply.User == "" {
		return t.User
	}
	u := config.NewUser(root.Unit.Apply.User, nil)
	return &user.DefaultInfo{Name: u.Name, Groups: u.Groups}
}

// UserBefore returns the user who applied the base's object of a pair, which may have been in another root.
func (t *Target) UserBefore(p Pair, now user.Info) user.Info {
	was := p.Base
	if p.Head == nil {
		was = p.Earlier
	}
	if was == nil {
		return now
	}
	origin, ok := was.Tag.(change.Origin)
	if !ok || origin.Extra() {
		return now
	}
	return t.UserOf(origin.Root)
}

// NoteUsers marks the pairs of a root whose base version another user applied than applies the head's. It
// determines the policies that may decide differently for that reason.
func (s *Servers) NoteUsers(c *change.Change, h *RootReview, pairs []Pair, now user.Info) []Pair {
	if root, ok := c.Head.Root(h.Root); ok && !change.IsApplied(root) {
		return pairs
	}
	t := s.Target
	for i := range pairs {
		p := &pairs[i]
		p.OtherUser = t.UserBefore(*p, now).GetName() != now.GetName()
		if p.OtherUser && h.Reach.userPolicies == nil {
			h.Deployer = c.Head.Deployer(h.Root)
			h.Reach.userPolicies = readingUser(t.Head.VisiblePolicies(h.Root))
			h.Reach.userMutations = readingUser(t.Head.VisibleMutations(h.Root), t.Base.VisibleMutations(h.Root))
		}
	}
	return pairs
}

// readingUser returns the names of the policies that read who makes a request, or what that user may do.
func readingUser(visible ...Visible) map[string]bool {
	names := map[string]bool{}
	for _, v := range visible {
		for _, p := range v.Policies {
			if written.ReadsUser(p) {
				names[p.Name()] = true
			}
		}
	}
	return names
}
