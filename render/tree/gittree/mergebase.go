package gittree

import (
	"container/heap"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// MergeBase returns the best common ancestor of two commits, like `git merge-base`. In a shallow clone it searches the
// available history; if that is not enough, the error says how to fetch more.
func (r *Repository) MergeBase(a, b *Commit) (*Commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &ancestorWalk{repo: r, flags: map[plumbing.Hash]side{}, commits: map[plumbing.Hash]*object.Commit{}}
	base, err := p.find(a.commit, b.commit)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find the merge base of %s and %s: %w", a.Hash(), b.Hash(), err)
	case base != nil:
		return &Commit{repo: r, commit: base}, nil
	case p.cut:
		return nil, fmt.Errorf("find the merge base of %s and %s: the history of this shallow clone ends before it; "+
			"get more with `git fetch --unshallow origin` (or `git fetch --deepen=1000 origin`); "+
			"in GitHub Actions give actions/checkout `fetch-depth: 0`", a.Hash(), b.Hash())
	}
	return nil, fmt.Errorf("find the merge base of %s and %s: their histories have no commit in common", a.Hash(), b.Hash())
}

// side marks from which commit a commit was reached.
type side uint8

const (
	fromA side = 1 << iota
	fromB
	stale // an ancestor of a common ancestor
)

// ancestorWalk walks two histories from their tips, newest commit first, and marks the reached commits: the algorithm
// of git's commit-reach.c.
type ancestorWalk struct {
	repo    *Repository
	flags   map[plumbing.Hash]side
	commits map[plumbing.Hash]*object.Commit
	queue   commitQueue
	// cut is set when the walk reached the boundary of a shallow clone.
	cut bool
}

func (p *ancestorWalk) find(a, b *object.Commit) (*object.Commit, error) {
	p.mark(a, fromA)
	p.mark(b, fromB)
	var common []*object.Commit
	for p.unsettled() {
		c := heap.Pop(&p.queue).(*object.Commit)
		flags := p.flags[c.Hash]
		if flags == fromA|fromB {
			common = append(common, c)
			flags |= stale
		}
		if err := p.spread(c, flags); err != nil {
			return nil, err
		}
	}
	return p.best(common), nil
}

// unsettled reports whether the queue still contains a commit that could matter.
func (p *ancestorWalk) unsettled() bool {
	for _, c := range p.queue {
		if p.flags[c.Hash]&stale == 0 {
			return true
		}
	}
	return false
}

func (p *ancestorWalk) mark(c *object.Commit, flags side) {
	if p.flags[c.Hash]&flags == flags {
		return
	}
	p.flags[c.Hash] |= flags
	p.commits[c.Hash] = c
	heap.Push(&p.queue, c)
}

func (p *ancestorWalk) spread(c *object.Commit, flags side) error {
	for _, hash := range c.ParentHashes {
		parent := p.commits[hash]
		if parent == nil {
			var err error
			parent, err = object.GetCommit(p.repo.store, hash)
			if errors.Is(err, plumbing.ErrObjectNotFound) {
				p.cut = true
				continue
			}
			if err != nil {
				return err
			}
		}
		p.mark(parent, flags)
	}
	return nil
}

// best returns the newest common ancestor that is not an ancestor of another one.
func (p *ancestorWalk) best(common []*object.Commit) *object.Commit {
	for _, c := range common {
		if p.flags[c.Hash]&stale == 0 {
			return c
		}
	}
	return nil
}

// commitQueue is a heap with the newest commit on top. Commits with equal times are ordered by hash, so that results
// are deterministic.
type commitQueue []*object.Commit

func (q commitQueue) Len() int      { return len(q) }
func (q commitQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q commitQueue) Less(i, j int) bool {
	if !q[i].Committer.When.Equal(q[j].Committer.When) {
		return q[i].Committer.When.After(q[j].Committer.When)
	}
	return q[i].Hash.String() < q[j].Hash.String()
}
func (q *commitQueue) Push(x any) { *q = append(*q, x.(*object.Commit)) }
func (q *commitQueue) Pop() any {
	old := *q
	c := old[len(old)-1]
	*q = old[:len(old)-1]
	return c
}
