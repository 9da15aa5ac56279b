package action

import (
	"context"
	"fmt"
	"path"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// open opens the commits to compare.
func (a *run) open(ctx context.Context) (*scan.Change, error) {
	judged, err := a.openJudged(ctx)
	if err != nil {
		return nil, err
	}
	c := &scan.Change{Head: a.tree(judged, a.trigger.judgedName), Remotes: []string{a.runner.repositoryURL()}}
	base, err := a.openBase(ctx)
	if err != nil {
		return nil, err
	}
	if base == nil {
		c.Note("everything in %s (%s) is judged", judged.Hash(), a.trigger.judgedName)
		return c, nil
	}
	if a.files, err = judged.Changed(base); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", judged.Hash(), base.Hash(), err)
	}
	tree := a.tree(base, a.trigger.baseName)
	c.Base = &tree
	c.Note("base is %s (%s), head is %s (%s)", base.Hash(), a.trigger.baseName, judged.Hash(), a.trigger.judgedName)
	return c, nil
}

// openJudged opens the commit to judge. For a pull request that is the merge commit if it
// is a merge of the current head, else the head: GitHub creates the merge commit some time
// after a push, and keeps the previous one if it cannot merge.
func (a *run) openJudged(ctx context.Context) (*gittree.Commit, error) {
	t := a.trigger
	judged, err := a.source.commit(ctx, t.judged)
	if err != nil || !t.merge {
		return judged, err
	}
	if parents := judged.Parents(); len(parents) == 2 && parents[1] == t.headSHA {
		if a.flags.scan.Base == "" {
			t.base = parents[0]
		}
		return judged, nil
	}
	name := fmt.Sprintf("refs/pull/%d/head", t.pull)
	a.publish.AddNote("%s is not the merge of the pull request's head %s, which is judged in its place.", t.judged, t.headSHA)
	t.judged, t.judgedName, t.ref = t.headSHA, name, name
	return a.source.commit(ctx, t.headSHA)
}

// openBase opens the commit to compare with. It returns nil if everything is judged.
func (a *run) openBase(ctx context.Context) (*gittree.Commit, error) {
	t := a.trigger
	if t.base != "" {
		base, err := a.source.commit(ctx, t.base)
		if err == nil || !t.forced {
			return base, err
		}
		a.publish.AddNote("The commit %s that this push replaced cannot be had any more.", t.base)
	}
	if t.fork == "" {
		t.baseName = ""
		return nil, nil
	}
	onto, err := a.source.resolve(ctx, t.fork)
	if err != nil {
		return nil, err
	}
	hash, err := a.source.mergeBase(ctx, onto, t.judged)
	if err != nil {
		return nil, err
	}
	t.base = hash
	if t.baseName == "" || t.forced {
		t.baseName = "merge base with " + t.fork
	}
	return a.source.commit(ctx, hash)
}

func (a *run) tree(c *gittree.Commit, name string) scanner.Tree {
	return scanner.Tree{
		FS: c.FS(), Under: []string{a.source.under}, Named: path.Clean(a.source.under) != ".",
		Revision: report.Revision{Name: name, Commit: c.Hash()},
	}
}
