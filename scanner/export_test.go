package scanner

import (
	"context"

	"github.com/preadmit/preadmit/report"
)

// ScanWhole is like Scan, but renders every root, whether or not it matters.
func ScanWhole(ctx context.Context, in Input) (*report.Report, error) {
	s := newScan(in)
	s.everything = true
	if _, err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.report, nil
}

// KeptOrigins returns the number of roots whose origins are in memory after a scan.
func KeptOrigins(ctx context.Context, in Input) (int, error) {
	s := newScan(in)
	_, err := s.run(ctx)
	return s.locator.Kept(), err
}
