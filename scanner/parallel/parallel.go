// Package parallel runs the many small steps of a scan on a bounded number of goroutines and reports their progress.
// Results never depend on the order of steps: each step writes to its own place.
package parallel

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Workers are the goroutines that run steps of a scan.
type Workers struct {
	// Count is the maximum number of goroutines; 0 means GOMAXPROCS.
	Count int
	// Progress, if set, is called as steps are done, from several goroutines.
	Progress func(stage string, done, total int)
}

// Each calls do for 0 to n-1 and reports progress. It returns the first error, or the error of ctx.
func (w Workers) Each(ctx context.Context, stage string, n int, do func(ctx context.Context, i int) error) error {
	var done atomic.Int64
	w.Report(stage, 0, n)
	return w.spread(ctx, n, func(ctx context.Context, i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(ctx, i); err != nil {
			return err
		}
		w.Report(stage, int(done.Add(1)), n)
		return nil
	})
}

// Spread calls do for 0 to n-1.
func (w Workers) Spread(n int, do func(i int)) {
	_ = w.spread(context.Background(), n, func(_ context.Context, i int) error { // do does not fail
		do(i)
		return nil
	})
}

// spread calls do for 0 to n-1, until the first error. Each goroutine calls it many times and reuses its grown stack.
func (w Workers) spread(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(w.count(), n) {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// Report reports the progress of a stage.
func (w Workers) Report(stage string, done, total int) {
	if w.Progress != nil {
		w.Progress(stage, done, total)
	}
}

func (w Workers) count() int {
	if w.Count > 0 {
		return w.Count
	}
	return runtime.GOMAXPROCS(0)
}
