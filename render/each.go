package render

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Each renders roots on all cores, and returns what each renders to, in their order. What is
// wrong with a root is in its result; the error is that of ctx.
func Each(ctx context.Context, roots []Root, render func(context.Context, Root) *Result) ([]*Result, error) {
	results := make([]*Result, len(roots))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, root := range roots {
		group.Go(func() error {
			results[i] = render(ctx, root)
			return nil
		})
	}
	_ = group.Wait() // nothing fails
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return results, nil
}
