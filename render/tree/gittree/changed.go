package gittree

import (
	"errors"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Changed returns the slash paths of the files of c that are not in base or differ. Common subtrees are not read. The
// commits may be of different repositories.
func (c *Commit) Changed(base *Commit) (map[string]bool, error) {
	d := &difference{head: c.repo, base: base.repo, changed: map[string]bool{}}
	return d.changed, d.trees(".", c.commit.TreeHash, base.commit.TreeHash)
}

type difference struct {
	head, base *Repository
	changed    map[string]bool
}

// trees compares two directories; the zero hash stands for a missing one.
func (d *difference) trees(dir string, head, base plumbing.Hash) error {
	if head == base {
		return nil
	}
	now, err := d.head.directory(head)
	if err != nil {
		return err
	}
	before := &directory{}
	if !base.IsZero() {
		if before, err = d.base.directory(base); err != nil {
			return err
		}
	}
	var failed []error
	for name, entry := range now.entries {
		old := before.entries[name]
		switch {
		case entry == old:
		case entry.Mode != filemode.Dir:
			d.changed[path.Join(dir, name)] = true
		case old.Mode != filemode.Dir:
			failed = append(failed, d.trees(path.Join(dir, name), entry.Hash, plumbing.ZeroHash))
		default:
			failed = append(failed, d.trees(path.Join(dir, name), entry.Hash, old.Hash))
		}
	}
	return errors.Join(failed...)
}
