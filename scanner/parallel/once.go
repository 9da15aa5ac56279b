package parallel

import (
	"sync"
	"sync/atomic"
)

// Once is a value that is computed once, on first use.
type Once[T any] struct {
	compute     func() T
	begun, done atomic.Bool
}

// NewOnce returns a value that is computed by a function.
func NewOnce[T any](compute func() T) *Once[T] { return &Once[T]{compute: sync.OnceValue(compute)} }

// Get returns the value. It waits while another goroutine computes it.
func (o *Once[T]) Get() T {
	o.begun.Store(true)
	value := o.compute()
	o.done.Store(true)
	return value
}

// IsNew reports whether Get has not been called yet.
func (o *Once[T]) IsNew() bool { return !o.begun.Load() }

// IsUnderWay reports whether the value is being computed, so that Get would wait.
func (o *Once[T]) IsUnderWay() bool { return o.begun.Load() && !o.done.Load() }
