// Package results keeps results of long computations for a second reader.
package results

import "sync"

// Results has computed results by key. A result is kept until it is read once more. It is safe for
// concurrent use.
type Results[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

// Of returns the result of compute, or an earlier result for the same key.
func (r *Results[K, V]) Of(key K, compute func() V) V {
	r.mu.Lock()
	v, ok := r.kept[key]
	delete(r.kept, key)
	r.mu.Unlock()
	if ok {
		return v
	}
	v = compute()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[K]V{}
	}
	r.kept[key] = v
	return v
}
