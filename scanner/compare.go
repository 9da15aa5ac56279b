package scanner

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/diff"
)

// Compare renders the roots that a change touches and compares their objects. It judges nothing.
// The input must have a base. The errors are those of Scan.
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
	limits := diff.Limits{}
	if in.Diff != nil {
		limits = *in.Diff
	}
	c := &report.Comparison{
		APIVersion: report.APIVersion, Kind: report.DiffKind, Tool: s.report.Tool, Change: s.report.Change,
		Changes: diff.Objects(s.Change, s.work, limits),
	}
	s.ledger.Uncompared()
	if err := s.ledger.Nothing(in.Head.Named, "compare"); err != nil {
		return nil, err
	}
	s.order()
	c.Indeterminate, c.Diagnostics = s.report.Indeterminate, s.report.Diagnostics
	return c, nil
}
