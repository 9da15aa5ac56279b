package githubtest

import (
	"cmp"
	"fmt"
	"slices"

	"errors"

	"github.com/preadmit/preadmit/internal/gittest"
)

// PullOptions are the properties of a pull request to open.
type PullOptions struct {
	// Head is a branch of From, or of the repository itself when From is nil.
	Head string
	From *Repository
	// Base is the default branch when empty, Author the owner of the head's repository,
	// Title "A change".
	Base, Author, Title string
	Draft               bool
	// Lag is how many times the pull request has to be read after each change before
	// mergeable is known and the merge commit exists.
	Lag int
}

// Pull is the current state of a pull request.
type Pull struct {
	Number           int
	State            string // open or closed
	Draft, Merged    bool
	Title, Author    string
	HeadRef, HeadSHA string
	BaseRef, BaseSHA string
	Mergeable        *bool // nil: not known yet
	MergeSHA         string
}

// pull is the state of a pull request. The server's lock guards it.
type pull struct {
	number        int
	state         string
	title, author string
	draft, merged bool
	repo          *repository // nil: one without git
	from          *repository
	head, base    string // branches
	headSHA       string
	baseSHA       string
	mergeable     *bool
	mergeSHA      string
	ends          [2]string // base and head of refs/pull/N/merge
	lag, pending  int
}

func (r *repository) pull(number int) *pull {
	i := slices.IndexFunc(r.pulls, func(p *pull) bool { return p.number == number })
	if i < 0 {
		return nil
	}
	return r.pulls[i]
}

func (r *repository) removePull(number int) {
	r.pulls = slices.DeleteFunc(r.pulls, func(p *pull) bool { return p.number == number })
}

// OpenPull opens a pull request, sends the event, and returns its number.
func (r *Repository) OpenPull(o PullOptions) (number int, err error) {
	err = r.server.act(func() error {
		p := &pull{
			number: r.repo.nextPull(), state: "open", title: cmp.Or(o.Title, "A change"), repo: r.repo, from: r.repo,
			head: o.Head, base: cmp.Or(o.Base, r.repo.DefaultBranch), draft: o.Draft, lag: o.Lag,
		}
		if o.From != nil {
			p.from = o.From.repo
		}
		p.author = cmp.Or(o.Author, p.from.Owner)
		if p.from.tip(p.head) == "" || r.repo.tip(p.base) == "" {
			return fmt.Errorf("open a pull request of %s into %s: there is no such branch", p.head, p.base)
		}
		if err := r.server.refresh(p); err != nil {
			return err
		}
		number = p.number
		r.repo.pulls = append(r.repo.pulls, p)
		r.server.sendPull(p, "opened", p.author, nil)
		return nil
	})
	return number, err
}

// nextPull returns an unused number.
func (r *repository) nextPull() int {
	most := 0
	for _, p := range r.pulls {
		most = max(most, p.number)
	}
	return most + 1
}

// Pull returns a copy of a pull request; its Number is 0 when there is none.
func (r *Repository) Pull(number int) Pull {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	p := r.repo.pull(number)
	if p == nil {
		return Pull{}
	}
	return Pull{
		Number: p.number, State: p.state, Draft: p.draft, Merged: p.merged, Title: p.title, Author: p.author, HeadRef: p.head,
		HeadSHA: p.headSHA, BaseRef: p.base, BaseSHA: p.baseSHA, Mergeable: p.mergeable, MergeSHA: p.mergeSHA,
	}
}

// ClosePull closes a pull request, and sends the event.
func (r *Repository) ClosePull(number int) error {
	return r.change(number, "closed", func(p *pull) map[string]any {
		p.state = "closed"
		return nil
	})
}

// ReopenPull reopens a closed pull request, and sends the event.
func (r *Repository) ReopenPull(number int) error {
	return r.change(number, "reopened", func(p *pull) map[string]any {
		p.state = "open"
		return nil
	})
}

// SetDraft converts a pull request to a draft, or marks it as ready, and sends the event.
func (r *Repository) SetDraft(number int, draft bool) error {
	action := map[bool]string{true: "converted_to_draft", false: "ready_for_review"}[draft]
	return r.change(number, action, func(p *pull) map[string]any {
		p.draft = draft
		return nil
	})
}

// SetTitle edits the title, and sends the event.
func (r *Repository) SetTitle(number int, title string) error {
	return r.change(number, "edited", func(p *pull) map[string]any {
		was := p.title
		p.title = title
		return map[string]any{"title": map[string]any{"from": was}}
	})
}

// SetBase changes the base branch of a pull request, and sends the event.
func (r *Repository) SetBase(number int, base string) error {
	return r.change(number, "edited", func(p *pull) map[string]any {
		ref, sha := p.base, p.baseSHA
		p.base = base
		return map[string]any{"base": map[string]any{"ref": map[string]any{"from": ref}, "sha": map[string]any{"from": sha}}}
	})
}

// change changes a pull request and sends the event.
func (r *Repository) change(number int, action string, do func(*pull) map[string]any) error {
	return r.server.act(func() error {
		p := r.repo.pull(number)
		if p == nil {
			return fmt.Errorf("%s pull request %d: there is none", action, number)
		}
		changes := do(p)
		if err := r.server.refresh(p); err != nil {
			return err
		}
		r.server.sendPull(p, action, p.author, changes)
		return nil
	})
}

// follow updates a pull request after a branch of r moved.
func (s *Server) follow(p *pull, r *repository, branch, before string) error {
	if p.repo == nil || p.state != "open" {
		return nil
	}
	switch {
	case p.from == r && p.head == branch:
		if err := s.refresh(p); err != nil {
			return err
		}
		s.sendSynchronize(p, before)
	case p.repo == r && p.base == branch:
		return s.merge(p)
	}
	return nil
}

// headRef returns the ref of a pull request's head.
func (p *pull) headRef() string { return fmt.Sprintf("refs/pull/%d/head", p.number) }

// refresh updates a pull request to the commits of its branches.
func (s *Server) refresh(p *pull) error {
	if p.repo == nil {
		return nil
	}
	ref := p.headRef()
	if tip := p.from.tip(p.head); tip != "" {
		if err := p.repo.take(p.from, tip, ref); err != nil {
			return err
		}
	}
	sha, err := p.repo.at(ref)
	if err != nil {
		return err
	}
	p.headSHA, p.baseSHA = sha, p.repo.tip(p.base)
	return s.merge(p)
}

// merge creates the merge commit, or leaves that for later.
func (s *Server) merge(p *pull) error {
	p.mergeable = nil
	if p.pending = p.lag; p.pending > 0 {
		return nil
	}
	return p.tryMerge()
}

// tryMerge creates the merge commit of refs/pull/N/merge, unless it exists. After a
// conflict the ref stays unchanged, as on GitHub.
func (p *pull) tryMerge() error {
	ends := [2]string{p.repo.tip(p.base), p.headSHA}
	mergeable := p.ends == ends
	p.mergeable = &mergeable
	if mergeable {
		return nil
	}
	sha, err := p.repo.mergeCommit(p.base, p.headSHA, fmt.Sprintf("Merge %s into %s", p.headSHA, p.base))
	if err != nil || sha == "" {
		return err
	}
	mergeable, p.mergeSHA, p.ends = true, sha, ends
	return p.repo.set(fmt.Sprintf("refs/pull/%d/merge", p.number), sha)
}

// mergeCommit returns a merge of a commit into a branch, which does not move; "" after a conflict.
func (r *repository) mergeCommit(base, head, text string) (string, error) {
	r.commits++
	sha, err := gittest.Merge(r.dir, r.tip(base), head, text, r.when())
	if err != nil {
		return "", nil // a conflict
	}
	return r.addCommit(sha), nil
}

// MergePull merges a pull request: its base moves to a merge commit, and it is closed.
// An event is sent for both.
func (r *Repository) MergePull(number int, by string) error {
	return r.server.act(func() error {
		p := r.repo.pull(number)
		if p == nil || p.state != "open" {
			return fmt.Errorf("merge pull request %d: there is none that is open", number)
		}
		sha, err := r.repo.mergeCommit(p.base, p.headSHA, fmt.Sprintf("Merge pull request #%d", number))
		if err != nil {
			return err
		}
		if sha == "" {
			return errors.New("merge a pull request: it conflicts with its base")
		}
		p.state, p.merged, p.mergeSHA = "closed", true, sha
		r.server.sendPull(p, "closed", by, nil)
		return r.server.move(r.repo, p.base, sha)
	})
}
