package policy

import (
	"cmp"
	"strings"
	"sync"
	"sync/atomic"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	v1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// shortcut is all validations of a policy joined by `&&`. Most requests fail
// none, and when the whole is true within the limit of one call, every
// validation is true within the limits, whatever the order: one evaluation says
// what many would. In any other case it says nothing.
type shortcut struct {
	compiled func() celgo.Program // nil when they cannot be joined
	after    int64

	asked, tried, held atomic.Int64
}

// A policy is worth a shortcut when it has judged some requests, and while at
// least half of the tries say something.
const (
	shortcutAfter = 8
	shortcutTries = 16
)

func (c *Compiler) newShortcut(spec *v1.ValidatingAdmissionPolicySpec) *shortcut {
	if len(spec.Validations) < 2 {
		return nil
	}
	return &shortcut{after: cmp.Or(c.ShortcutAfter, shortcutAfter), compiled: sync.OnceValue(func() celgo.Program { return c.join(spec) })}
}

// join compiles the validations as one. Each compiles by itself, so none reaches
// out of its parentheses; a line break ends the comment it may end with.
func (c *Compiler) join(spec *v1.ValidatingAdmissionPolicySpec) celgo.Program {
	compiler, err := c.whole.take(spec)
	if err != nil {
		return nil
	}
	defer c.whole.giveBack(compiler)
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	for _, v := range spec.Variables {
		compiler.variable(&v, options)
	}
	expressions := make([]string, len(spec.Validations))
	for i, v := range spec.Validations {
		expressions[i] = "(" + v.Expression + "\n)"
	}
	whole := &validating.ValidationCondition{Expression: strings.Join(expressions, " && ")}
	result := compiler.CompileCELExpression(whole, options, environment.StoredExpressions)
	if result.Error != nil {
		return nil
	}
	return result.Program
}

// program is nil when the shortcut is not worth taking.
func (s *shortcut) program() celgo.Program {
	if s == nil || s.asked.Add(1) <= s.after {
		return nil
	}
	if tried := s.tried.Load(); tried >= shortcutTries && 2*s.held.Load() < tried {
		return nil
	}
	return s.compiled()
}

// allHold takes the shortcut: true means that every validation is true and what
// the message expressions may cost changes nothing.
func (e *evaluation) allHold() bool {
	s := e.compiled.shortcut
	program := s.program()
	if program == nil {
		return false
	}
	s.tried.Add(1)
	a := e.activation(true, e.resource, e.namespace().object)
	value, details, err := program.ContextEval(a.ctx, a)
	if details == nil || details.ActualCost() == nil {
		return false
	}
	cost := clamp(*details.ActualCost()) + a.variableCost
	a.charge(cost)
	if err != nil || value != celtypes.True || cost > celconfig.PerCallLimit || !e.affordable(celconfig.RuntimeCELCostBudget-cost) {
		return false
	}
	s.held.Add(1)
	e.outcome.Evaluations += len(e.compiled.validations)
	e.noteReads(a)
	return true
}
