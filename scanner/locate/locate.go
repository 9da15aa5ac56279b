package locate

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
	"k8s.io/apiserver/pkg/cel/environment"

	policycel "github.com/preadmit/preadmit/scanner/policy/cel"
)

// Question is an expression that failed and the values it was evaluated on. Absent objects are nil.
type Question struct {
	Expression string
	// Variables maps the names of the policy's variables to their expressions.
	Variables map[string]string
	// Object is the object to find fields in. If it is nil, OldObject is.
	Object, OldObject map[string]any
	Params            map[string]any
	Request           map[string]any
	Namespace         map[string]any
}

// Finder answers questions. It caches parsed expressions and is safe for concurrent use.
type Finder struct {
	env    *cel.Env
	parser *parser.Parser

	mu       sync.Mutex
	parsed   map[string]ast.Expr // nil: does not parse
	programs map[signature]cel.Program
}

// NewFinder returns a Finder for the CEL environment of the API server, with the same limits on
// function calls as in the evaluation of policies.
func NewFinder() (*Finder, error) {
	set, err := policycel.Environment()
	if err != nil {
		return nil, fmt.Errorf("make the CEL environment: %w", err)
	}
	env, err := set.Env(environment.StoredExpressions)
	if err != nil {
		return nil, fmt.Errorf("make the CEL environment: %w", err)
	}
	p, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
	if err != nil {
		return nil, fmt.Errorf("make a CEL parser: %w", err)
	}
	return &Finder{env: env, parser: p, parsed: map[string]ast.Expr{}, programs: map[signature]cel.Program{}}, nil
}

// Fields returns the paths of the fields whose change would change the value of the expression, the
// most relevant first, in the form that render.Source.Find takes. A path may be of an absent field
// that should exist. The list is empty if the expression depends on no field, or if the fields
// cannot be determined.
func (f *Finder) Fields(q Question) (paths []string) {
	// Functions of CEL libraries may panic on values that a policy chooses.
	defer func() {
		if recover() != nil {
			paths = nil
		}
	}()
	r := newRun(f, &q)
	v := r.text(q.Expression)
	if found := ranked(v.reads()); len(found) > 0 {
		return found
	}
	return ranked(r.mentioned)
}

// parse returns the parsed expression, nil if it does not parse.
func (f *Finder) parse(text string) ast.Expr {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.parsed[text]; ok {
		return e
	}
	var e ast.Expr
	if a, errs := f.parser.Parse(common.NewTextSource(text)); a != nil && len(errs.GetErrors()) == 0 {
		e = a.Expr()
	}
	f.parsed[text] = e
	return e
}
