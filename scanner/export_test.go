package scanner

import "context"

// ScanWhole is Scan, but for rendering every root, whether or not it matters.
func ScanWhole(ctx context.Context, in Input) (*Report, error) {
	s := newScan(in)
	s.whole = true
	return s.run(ctx)
}
