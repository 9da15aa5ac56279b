package gittree

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

var (
	// step matches one ~N or ^N of a revision, or a ^{} or ^{commit}, which every commit satisfies.
	step = regexp.MustCompile(`^(?:\^\{(?:commit)?\}|([~^])([0-9]*))`)
	// hashPrefix matches the beginning of a hash, with git's minimum length.
	hashPrefix = regexp.MustCompile(`^[0-9a-fA-F]{4,39}$`)
	// pseudoRef matches the name of a reference outside of refs/, such as HEAD and FETCH_HEAD.
	pseudoRef = regexp.MustCompile(`^[A-Z_]+$`)
)

// errAmbiguous is the error for the beginning of a hash that several commits share.
var errAmbiguous = errors.New("several commits begin with this, give more of the hash")

// find returns the commit of a revision: a reference, or a hash or its beginning, followed by any number of ~N and ^N.
// As in git, a reference has precedence over the beginning of a hash. go-git's own ResolveRevision prefers the hash,
// and ignores unknown syntax such as @{1}.
func (r *Repository) find(rev string) (*object.Commit, error) {
	name, rest := splitRevision(rev)
	if err := checkRevision(name, rest); err != nil {
		return nil, err
	}
	c, err := r.start(name)
	for rest != "" && err == nil {
		m := step.FindStringSubmatch(rest)
		rest = rest[len(m[0]):]
		if m[1] != "" {
			c, err = ancestor(c, m[1], m[2])
		}
	}
	return c, err
}

// splitRevision splits a revision after its name. Names of references do not contain these characters.
func splitRevision(rev string) (name, rest string) {
	end := strings.IndexAny(rev, "~^:")
	if at := strings.Index(rev, "@{"); at >= 0 && (end < 0 || at < end) {
		end = at
	}
	if end < 0 {
		return rev, ""
	}
	return rev[:end], rev[end:]
}

// checkRevision returns an error if a revision has a form that find does not support.
func checkRevision(name, rest string) error {
	if strings.Contains(name, "..") {
		return errors.New("this is a range: name one revision")
	}
	for left := rest; left != ""; {
		m := step.FindString(left)
		if m == "" {
			return fmt.Errorf("%q cannot be read here: name a branch, a tag or a commit, followed by ~N or ^N at most, or what `git rev-parse` prints for it", rest)
		}
		left = left[len(m):]
	}
	if name == "" {
		return errors.New("it does not begin with a branch, a tag or a commit")
	}
	return nil
}

// start returns the commit of the name at the beginning of a revision.
func (r *Repository) start(name string) (*object.Commit, error) {
	if plumbing.IsHash(name) {
		return r.named(plumbing.NewHash(name))
	}
	if name == "@" {
		name = "HEAD"
	}
	for _, rule := range plumbing.RefRevParseRules {
		full := fmt.Sprintf(rule, name)
		if !strings.HasPrefix(full, "refs/") && !pseudoRef.MatchString(full) {
			continue
		}
		if ref, err := storer.ResolveReference(r.store, plumbing.ReferenceName(full)); err == nil {
			return r.named(ref.Hash())
		}
	}
	if hashPrefix.MatchString(name) {
		return r.beginning(strings.ToLower(name))
	}
	return nil, plumbing.ErrReferenceNotFound
}

// beginning returns the only commit whose hash, or that of a tag of it, begins with prefix.
func (r *Repository) beginning(prefix string) (*object.Commit, error) {
	whole, err := hex.DecodeString(prefix[:len(prefix)&^1])
	if err != nil {
		return nil, err
	}
	hashes, err := r.store.beginning(whole)
	if err != nil {
		return nil, err
	}
	var found *object.Commit
	for _, hash := range slices.CompactFunc(hashes, func(a, b plumbing.Hash) bool { return a == b }) {
		if !strings.HasPrefix(hash.String(), prefix) {
			continue
		}
		c, err := r.named(hash)
		if err != nil {
			continue // a tree or a file
		}
		if found != nil && found.Hash != c.Hash {
			return nil, errAmbiguous
		}
		found = c
	}
	if found == nil {
		return nil, plumbing.ErrReferenceNotFound
	}
	return found, nil
}

// ancestor returns the commit that ~N or ^N leads to.
func ancestor(c *object.Commit, sign, number string) (*object.Commit, error) {
	n := 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil {
			return nil, fmt.Errorf("%s%s is too large", sign, number)
		}
	}
	if sign == "^" {
		if n == 0 {
			return c, nil
		}
		return parent(c, n)
	}
	for range n {
		var err error
		if c, err = parent(c, 1); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parent returns the nth parent of a commit, from 1.
func parent(c *object.Commit, n int) (*object.Commit, error) {
	switch have := c.NumParents(); {
	case n <= have:
		return c.Parent(n - 1)
	case have == 0:
		return nil, fmt.Errorf("the history ends before it: commit %s is the first and has no parent", c.Hash.String()[:12])
	case have == 1:
		return nil, fmt.Errorf("commit %s has 1 parent, so it has no ^%d", c.Hash.String()[:12], n)
	default:
		return nil, fmt.Errorf("commit %s has %d parents, so it has no ^%d", c.Hash.String()[:12], have, n)
	}
}

// missingRevision returns the error of a missing revision.
func (r *Repository) missingRevision(rev string) *MissingRevisionError {
	e := &MissingRevisionError{Revision: rev, Shallow: r.shallow()}
	name, steps := splitRevision(rev)
	if steps != "" {
		_, err := r.start(name)
		e.Begins = err == nil
	}
	if _, err := r.find("origin/" + rev); err == nil && !e.Begins {
		e.Tracking = "origin/" + rev
	}
	return e
}

// unborn returns the branch of HEAD if the revision is based on HEAD and the branch has no commit yet.
func (r *Repository) unborn(rev string) string {
	if name, _ := splitRevision(rev); name != "HEAD" && name != "@" {
		return ""
	}
	head, err := r.store.Reference(plumbing.HEAD)
	if err != nil || head.Type() != plumbing.SymbolicReference {
		return ""
	}
	if _, err := r.store.Reference(head.Target()); err == nil {
		return ""
	}
	return head.Target().Short()
}
