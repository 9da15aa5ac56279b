package engine

import (
	"fmt"
)

// Limits bound what rendering may cost. A zero field takes its default.
type Limits struct {
	// Depth is how deep include, tpl and template may call one another. Default 1,000, as
	// often as Helm lets a template include itself.
	Depth int
	// Steps is how many parts of templates may be executed; each iteration of a loop is one
	// at least. Default 1,000,000; the largest of 80 real charts takes 17,000.
	Steps int
	// Work is how many bytes functions may read and make. Default 512 MiB; the same
	// charts take 18 MiB.
	Work int
	// Value is the largest value that a function may make, in bytes. Default 64 MiB.
	Value int
	// Output is how many bytes templates may write, those that others include counted
	// again. Default 128 MiB.
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

// exceeded is the error of a limit; its place is that of the node that execution passed last.
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
