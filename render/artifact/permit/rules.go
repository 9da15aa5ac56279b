package permit

import (
	"fmt"
	"io/fs"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

// Rules decide what may be fetched for a change.
type Rules struct {
	// Trusted is set when the author of the change could run anything anyway: there is no base, as on the user's own
	// machine, or the change was approved.
	Trusted bool
	// Base is the lock of the base, Allow the allowed patterns in its configuration.
	Base  *lock.Lock
	Allow []Pattern
	// Named are the artifacts that the base requests, locked or not. If nil, they are not known and this rule is not
	// used.
	Named map[artifact.Artifact]bool
	// Head is the lock of the head.
	Head *lock.Lock
}

// Load reads the rules for a change from its trees. The base may be nil. allow are the patterns in the configuration of
// the base.
func Load(base, head fs.FS, allow []string) (*Rules, error) {
	rules := &Rules{}
	for _, text := range allow {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		rules.Allow = append(rules.Allow, p)
	}
	var err error
	if rules.Base, err = lock.Load(base); err != nil {
		return nil, fmt.Errorf("read %s of the base:\n%w", lock.FileName, err)
	}
	if rules.Head, err = lock.Load(head); err != nil {
		return nil, fmt.Errorf("read %s:\n%w", lock.FileName, err)
	}
	return rules, nil
}

// OfBase returns the rules for the base itself. If Named is set, everything that it requests may be fetched.
func (r *Rules) OfBase() *Rules {
	return &Rules{Trusted: r.Named != nil, Base: r.Base, Head: r.Base, Allow: r.Allow}
}

// RefusedError is the error for an artifact that is not fetched for a change.
type RefusedError struct {
	Artifact artifact.Artifact
	Why      string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s is not fetched: %s", e.Artifact, e.Why) }

// Decide returns the pin that an artifact of the head must have, if it is known, or a *RefusedError.
func (r *Rules) Decide(a artifact.Artifact) (pin artifact.Pin, known bool, err error) {
	base, locked := r.Base.Find(a)
	head, asked := r.Head.Find(a)
	moved := locked && asked && !same(base, head)
	switch {
	case r.Trusted && asked:
		return head, true, nil
	case r.Trusted:
		return base, locked, nil
	case moved && !r.allowed(a):
		return pin, false, &RefusedError{a, fmt.Sprintf("the change has another content for it in %s, %s instead of %s, and the configuration of the base does not allow its URL",
			lock.FileName, head.Digest, base.Digest)}
	case moved:
		return head, true, nil
	case locked:
		return base, true, nil
	case r.allowed(a):
		return head, asked, nil
	case r.Named[a] && !asked:
		return pin, false, nil
	case r.Named[a]:
		return pin, false, &RefusedError{a, "the change locks it, the base names it without: approve the change, or lock it at the base first"}
	}
	if r.Named == nil {
		return pin, false, &RefusedError{a, fmt.Sprintf("the base does not have it in its %s, and its configuration does not allow the URL (artifacts.allow)", lock.FileName)}
	}
	return pin, false, &RefusedError{a, "the change adds it, and artifacts.allow in the configuration of the base does not allow its URL"}
}

// allowed reports whether the configuration of the base allows an artifact.
func (r *Rules) allowed(a artifact.Artifact) bool {
	for _, p := range r.Allow {
		if p.Matches(a) {
			return true
		}
	}
	return false
}

// same reports whether two pins have the same content.
func same(a, b artifact.Pin) bool { return a.Digest == b.Digest && a.Commit == b.Commit }

// Permitted returns the lock that is in force for the head: all entries that the rules permit.
func (r *Rules) Permitted() *lock.Lock {
	if r.Base == nil && r.Head == nil {
		return nil
	}
	out := &lock.Lock{}
	for _, l := range []*lock.Lock{r.Base, r.Head} {
		for _, a := range l.Artifacts() {
			if pin, known, err := r.Decide(a); err == nil && known {
				out.Set(a, pin)
			}
		}
	}
	return out
}
