package scanner

import (
	"context"

	"github.com/preadmit/preadmit/report"
)

// ScanWhole is Scan, but for rendering every root, whether or not it matters.
func ScanWhole(ctx context.Context, in Input) (*report.Report, error) {
	s := newScan(in)
	s.everything = true
	if _, err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.report, nil
}

// KeptOrigins returns of how many roots the origins are in memory when a scan is over.
func KeptOrigins(ctx context.Context, in Input) (int, error) {
	s := newScan(in)
	_, err := s.run(ctx)
	return s.locator.Kept(), err
}
