package diff

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/parallel"
	"github.com/preadmit/preadmit/scanner/target"
)

// Limits are the limits of the Changes of a report. Zero means the default.
type Limits struct {
	// Objects is the maximum number of listed objects. Default 10,000.
	Objects int
	// ObjectBytes is the maximum size of one object's diff. Default 64 KiB.
	ObjectBytes int
	// TotalBytes is the maximum size of all diffs. Default 8 MiB.
	TotalBytes int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Objects:     cmp.Or(l.Objects, 10_000),
		ObjectBytes: cmp.Or(l.ObjectBytes, 64<<10),
		TotalBytes:  cmp.Or(l.TotalBytes, 8<<20),
	}
}

// Objects returns the differences in the objects of the selected roots that rendered. The change
// must have a base.
func Objects(c *change.Change, work parallel.Workers, limits Limits) report.Changes {
	limits = limits.withDefaults()
	pairs := differingPairs(c)
	out := report.Changes{Objects: []report.ObjectChange{}, LeftOut: max(0, len(pairs)-limits.Objects)}
	pairs = pairs[:len(pairs)-out.LeftOut]
	left := limits.TotalBytes
	for batch := range slices.Chunk(pairs, 64) {
		changes := make([]report.ObjectChange, len(batch))
		wanted := left > 0
		work.Spread(len(batch), func(i int) { changes[i] = batch[i].change(limits.ObjectBytes, wanted) })
		for i := range changes {
			left -= fit(&changes[i], left)
		}
		out.Objects = append(out.Objects, changes...)
	}
	return out
}

// rootPair is a pair of objects of a root.
type rootPair struct {
	target.Pair
	root render.RootID
}

// differingPairs returns the pairs of objects that differ.
func differingPairs(c *change.Change) []rootPair {
	cluster := admission.NewCluster(admission.ClusterOptions{}, c.Head.Index(), c.Base.Index())
	var out []rootPair
	for _, root := range c.SelectedRoots() {
		base, head, known := c.Sides(root)
		if !known || base == head {
			continue
		}
		for _, p := range target.PairObjects(cluster, base.All(), head.All()) {
			if !p.Same {
				out = append(out, rootPair{p, root})
			}
		}
	}
	return out
}
