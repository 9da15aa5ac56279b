package policy

import (
	"cmp"
	"strings"
	"sync/atomic"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/preadmit/preadmit/scanner/parallel"
	"github.com/preadmit/preadmit/scanner/policy/cel"
)

// shortcut is the conjunction of all validations of a policy. Most requests fail none. If the
// conjunction is true within the cost limit of one call, every validation is true within the limits,
// in any order: one evaluation replaces many. Otherwise its result is not used. Its cost is not
// counted if it is certain to stay far below the limit.
type shortcut struct {
	uncounted *parallel.Once[*cel.Uncounted] // nil when they cannot be joined
	counted   *parallel.Once[celgo.Program]  // nil when they cannot be joined
	after     int64

	requests, tried, held atomic.Int64
}

// A shortcut is used after a policy has judged some requests, and while at least half of its
// evaluations are true.
const (
	shortcutAfter = 8
	shortcutTries = 16
	// maxUncounted is the highest cost that is not counted; charged is the divisor of the bound that is
	// charged for it.
	maxUncounted, charged = 200_000, 64
)

func (c *Compiler) newShortcut(spec *v1.ValidatingAdmissionPolicySpec) *shortcut {
	if len(spec.Validations) == 0 {
		return nil
	}
	s := &shortcut{
		after:     cmp.Or(c.ShortcutAfter, shortcutAfter),
		uncounted: parallel.NewOnce(func() *cel.Uncounted { u, _ := join(c, spec, (*cel.Compiler).Uncounted); return u }),
		counted:   parallel.NewOnce(func() celgo.Program { return nil }), // not needed for a single validation
	}
	if len(spec.Validations) > 1 {
		s.counted = parallel.NewOnce(func() celgo.Program { p, _ := join(c, spec, (*cel.Compiler).Counted); return p })
	}
	return s
}

// join compiles the validations as one expression. Each compiles by itself, so none closes its
// parentheses; the line break ends a comment at its end.
func join[P any](c *Compiler, spec *v1.ValidatingAdmissionPolicySpec, compile func(*cel.Compiler, string, plugincel.OptionalVariableDeclarations) (P, error)) (whole P, err error) {
	compiler, err := c.whole.Take(spec)
	if err != nil {
		return whole, err
	}
	defer c.whole.Release(compiler)
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	for _, v := range spec.Variables {
		compiler.Variable(&v, options)
	}
	expressions := make([]string, len(spec.Validations))
	for i, v := range spec.Validations {
		expressions[i] = "(" + v.Expression + "\n)"
	}
	return compile(compiler, strings.Join(expressions, " && "), options)
}

// isWorth reports whether the shortcut is to be evaluated. It is not while another request compiles it.
func (s *shortcut) isWorth() bool {
	if s == nil || s.requests.Add(1) <= s.after || s.uncounted.IsUnderWay() || s.counted.IsUnderWay() {
		return false
	}
	tried := s.tried.Load()
	return tried < shortcutTries || 2*s.held.Load() >= tried
}

// evaluate reports whether all validations of a shortcut are true, and returns an upper bound of the
// cost.
func (s *shortcut) evaluate(a *activation, sizes func(*cel.Uncounted) cel.Sizes) (held bool, cost int64) {
	if u := s.uncounted.Get(); u != nil {
		if bound := u.Bound(sizes(u)); bound <= maxUncounted {
			value, err := u.Eval(a)
			a.charge(int64(bound)/charged + a.variableCost)
			return err == nil && value == celtypes.True, int64(bound) + a.variableCost
		}
	}
	program := s.counted.Get()
	if program == nil {
		return false, 0
	}
	value, details, err := program.ContextEval(a.ctx, a)
	if details == nil || details.ActualCost() == nil {
		return false, 0
	}
	cost = clamp(*details.ActualCost()) + a.variableCost
	a.charge(cost)
	return err == nil && value == celtypes.True, cost
}

// allHold evaluates the shortcut. It returns true if every validation is true and the cost of the
// message expressions cannot change that.
func (e *evaluation) allHold() bool {
	s := e.compiled.shortcut
	if !s.isWorth() {
		return false
	}
	s.tried.Add(1)
	a := e.activation(true, e.resource, e.namespace().object)
	held, cost := s.evaluate(a, e.readSizes)
	if !held || cost > celconfig.PerCallLimit || !e.affordable(celconfig.RuntimeCELCostBudget-cost) {
		return false
	}
	s.held.Add(1)
	e.outcome.Evaluations += len(e.compiled.validations)
	e.noteReads(a)
	return true
}

// readSizes returns the sizes of the values that an expression reads.
func (e *evaluation) readSizes(u *cel.Uncounted) cel.Sizes {
	of, ok := e.sizes[e.version.VersionedKind]
	if !ok {
		of = cel.SizesOf(e.version.Object, e.version.OldObject)
		if e.sizes == nil {
			e.sizes = map[schema.GroupVersionKind]cel.Sizes{}
		}
		e.sizes[e.version.VersionedKind] = of
	}
	if u.ReadsRequest() {
		of = of.Join(cel.SizesOf(e.requestVariable(e.version.VersionedKind, e.resource)))
	}
	return of.Join(e.paramSizes)
}
