// Package parallel does the many small steps of a scan on a bounded number of
// goroutines, and reports how far they are. Results never depend on the order in which
// steps are done: each step writes to a place of its own.
package parallel

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Workers are goroutines that do steps of a scan.
type Workers struct {
	// Count bounds how many there are; 0 means GOMAXPROCS.
	Count int
	// Progress, when set, is called as steps are done, from several goroutines.
	Progress func(stage string, done, total int)
}

// Each calls do for 0 to n-1 and reports progress. It returns the first error, or that
// of ctx.
func (w Workers) Each(ctx context.Context, stage string, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.count())
	var done atomic.Int64
	w.Report(stage, 0, n)
	for i := range n {
		group.Go(func() error {
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
	return group.Wait()
}

// Spread calls do for 0 to n-1.
func (w Workers) Spread(n int, do func(i int)) {
	var group errgroup.Group
	group.SetLimit(w.count())
	for i := range n {
		group.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = group.Wait() // do does not fail
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
