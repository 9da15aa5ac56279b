// Package results keeps what takes long to compute for a second reader.
package results

import "sync"

// Results has what was computed for keys. A result is kept until it is read once more. It is
// safe for concurrent use.
type Results[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

// Of returns what compute returns, or has returned for the same key.
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
