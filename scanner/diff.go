package scanner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/target"
)

// DiffLimits bound the Changes of a report. A zero is the default.
type DiffLimits struct {
	// Objects is the most objects that are listed. Default 10,000.
	Objects int
	// ObjectBytes is the most text of one object's diff. Default 64 KiB.
	ObjectBytes int
	// TotalBytes is the most text of all diffs. Default 8 MiB.
	TotalBytes int
}

func (l DiffLimits) withDefaults() DiffLimits {
	return DiffLimits{
		Objects:     cmp.Or(l.Objects, 10_000),
		ObjectBytes: cmp.Or(l.ObjectBytes, 64<<10),
		TotalBytes:  cmp.Or(l.TotalBytes, 8<<20),
	}
}

// Compare renders the roots that a change touches and compares their objects; it
// judges nothing. The input must have a base. The error is that of Scan.
func Compare(ctx context.Context, in Input) (*report.Comparison, error) {
	if in.Base == nil {
		return nil, &InputError{What: "base", Err: fmt.Errorf("there is nothing to compare with")}
	}
	s := newScan(in)
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	if err := s.plan().RenderTouched(ctx); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	limits := DiffLimits{}
	if in.Diff != nil {
		limits = *in.Diff
	}
	c := &report.Comparison{
		APIVersion: report.APIVersion, Kind: report.DiffKind, Tool: s.report.Tool, Change: s.report.Change,
		Changes: s.compare(limits),
	}
	s.ledger.Uncompared()
	s.order()
	c.Indeterminate, c.Diagnostics = s.report.Indeterminate, s.report.Diagnostics
	return c, nil
}

// compare is what the change changes in the selected roots that rendered.
func (s *scan) compare(limits DiffLimits) report.Changes {
	limits = limits.withDefaults()
	pairs := s.differingPairs()
	out := report.Changes{Objects: []report.ObjectChange{}, LeftOut: max(0, len(pairs)-limits.Objects)}
	pairs = pairs[:len(pairs)-out.LeftOut]
	left := limits.TotalBytes
	for batch := range slices.Chunk(pairs, 64) {
		changes := make([]report.ObjectChange, len(batch))
		wanted := left > 0
		s.work.Spread(len(batch), func(i int) { changes[i] = batch[i].change(limits.ObjectBytes, wanted) })
		for i := range changes {
			left -= fit(&changes[i], left)
		}
		out.Objects = append(out.Objects, changes...)
	}
	return out
}

// rootPair is a pair of a root.
type rootPair struct {
	target.Pair
	root render.RootID
}

// differingPairs are the pairs of objects that are not the same.
func (s *scan) differingPairs() []rootPair {
	cluster := admission.NewCluster(admission.ClusterOptions{}, s.Head.Index(), s.Base.Index())
	var out []rootPair
	for _, root := range s.SelectedRoots() {
		base, head, known := s.Sides(root)
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
