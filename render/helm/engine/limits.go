package engine

import (
	"fmt"
)

// Limits limit the cost of rendering. A zero field means the default.
type Limits struct {
	// Depth is how deeply calls of include, tpl and template may be nested. Default 1,000, as often as a
	// template may include itself in Helm.
	Depth int
	// Steps is how many parts of templates may be executed; each iteration of a loop is at least one. Default
	// 1,000,000; the largest of 80 real charts takes 17,000.
	Steps int
	// Work is how many bytes functions may read and write. Default 512 MiB; the same charts take 18 MiB.
	Work int
	// Value is the largest value that a function may make, in bytes. Default 64 MiB.
	Value int
	// Output is how many bytes templates may write; output of included templates counts again. Default 128
	// MiB.
	Output int
}

func (l Limits) withDefaults() Limits {
	for field, value := range map[*int]int{&l.Depth: 1_000, &l.Steps: 1_000_000, &l.Work: 512 << 20, &l.Value: 64 << 20, &l.Output: 128 << 20} {
		if *field == 0 {
			*field = value
		}
	}
	return l
}

// exceeded returns the error of a limit; its place is that of the last executed node.
func exceeded(format string, args ...any) error {
	return &Error{Limit: true, Message: fmt.Sprintf(format, args...)}
}

// step counts the execution of a node.
func (r *run) step() error {
	if r.steps++; r.steps > r.limits.Steps {
		return exceeded("rendering takes more than the limit of %d steps", r.limits.Steps)
	}
	if r.steps%256 == 0 {
		return r.ctx.Err()
	}
	return nil
}

// deeper counts a call of a template by another.
func (r *run) deeper() error {
	if r.depth++; r.depth > r.limits.Depth {
		return exceeded("templates call one another more than %d deep", r.limits.Depth)
	}
	return nil
}

// spend counts the work of a function, in bytes.
func (r *run) spend(bytes int) error {
	if bytes > r.limits.Value {
		return exceeded("a value has more than the limit of %d bytes", r.limits.Value)
	}
	if r.work += bytes; r.work > r.limits.Work {
		return exceeded("functions read and make more than the limit of %d bytes", r.limits.Work)
	}
	return nil
}
