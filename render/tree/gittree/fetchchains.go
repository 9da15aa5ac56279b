package gittree

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// chains computes the memory that is needed to unpack an object of a pack: the object, its delta base, the base of
// that, and so on. go-git holds all of them at the same time, and a few bytes of a pack can stand for a file of any
// size.
type chains struct {
	most int64 // bytes, unpacked; 0 is no bound
	// made are the objects so far, in order of their offsets in the pack.
	made []link
	// named is set if there are deltas that refer to their base by name, which may follow later in the pack. Then all
	// deltas count as one chain, on the largest object that is not a delta.
	named           bool
	deltas, largest int64
}

// link is an object of a pack: its offset, and the total size of its delta chain.
type link struct{ at, bytes int64 }

// add adds an object of a pack. size is its unpacked size in bytes.
func (c *chains) add(h *packfile.ObjectHeader, size int64) error {
	if c.most == 0 {
		return nil
	}
	bytes := size
	switch h.Type {
	case plumbing.OFSDeltaObject:
		i, found := slices.BinarySearchFunc(c.made, h.OffsetReference, func(l link, at int64) int { return cmp.Compare(l.at, at) })
		if !found {
			return errors.New("the pack has a delta of what is no object of it")
		}
		bytes += c.made[i].bytes
		c.deltas += size
	case plumbing.REFDeltaObject:
		c.named = true
		c.deltas += size
	default:
		c.largest = max(c.largest, size)
	}
	c.made = append(c.made, link{h.Offset, bytes})
	if c.named {
		bytes = max(bytes, c.deltas+c.largest)
	}
	return over(LimitChain, bytes, c.most)
}
