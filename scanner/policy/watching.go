package policy

import (
	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/preadmit/preadmit/scanner/policy/cel"
)

// watching records the values of the expressions of an activation and of the variables that they
// read.
type watching struct {
	stack     []*cel.Recording
	variables map[string]*Watched
	// cost is the cost of all variables.
	cost int64
	// loops returns the loops of a variable.
	loops func(name string) cel.Loops
}

// of returns the record of a variable.
func (w *watching) of(name string) Watched {
	if one := w.variables[name]; one != nil {
		return *one
	}
	return Watched{}
}

// take adds the records of variables that the server's program evaluated.
func (w *watching) take(other *watching) {
	for name, one := range other.variables {
		if w.variables[name] == nil {
			w.keep(name, *one)
		}
	}
}

func (w *watching) keep(name string, one Watched) {
	if w.variables == nil {
		w.variables = map[string]*Watched{}
	}
	w.variables[name] = &one
}

// enter begins the evaluation of a variable; the returned function ends it.
func (w *watching) enter(name string) func(ref.Val, *celgo.EvalDetails) {
	if w == nil {
		return func(ref.Val, *celgo.EvalDetails) {}
	}
	r := cel.NewRecording(cel.Loops{})
	if w.loops != nil {
		r = cel.NewRecording(w.loops(name))
	}
	w.stack = append(w.stack, r)
	return func(value ref.Val, details *celgo.EvalDetails) {
		w.stack = w.stack[:len(w.stack)-1]
		one := Watched{Evaluated: true, Value: value, Parts: r.Seen, More: r.More}
		if err, ok := value.(*celtypes.Err); ok {
			one.Value, one.Err = nil, err
		}
		if details != nil && details.ActualCost() != nil {
			one.Cost = clamp(*details.ActualCost())
			w.cost += one.Cost
		}
		if known := w.variables[name]; known == nil {
			w.keep(name, one)
		} else if len(known.Parts) == 0 {
			known.Parts, known.More = one.Parts, one.More
		}
	}
}

// Watched implements cel.Watching.
func (a *activation) Watched(vars interpreter.Activation, part int64, value ref.Val) {
	if a.watch != nil && len(a.watch.stack) > 0 {
		a.watch.stack[len(a.watch.stack)-1].Add(vars, part, value)
	}
}
