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

// Question is an expression that failed and what it was evaluated on. Absent
// objects are nil.
type Question struct {
	Expression string
	// Variables are the expressions of the policy's variables by name.
	Variables map[string]string
	// Object is what fields are looked for in; when nil, OldObject is.
	Object, OldObject map[string]any
	Params            map[string]any
	Request           map[string]any
	Namespace         map[string]any
}

// Finder answers questions. It remembers what it parsed and is safe for concurrent
// use.
type Finder struct {
	env    *cel.Env
	parser *parser.Parser

	mu       sync.Mutex
	parsed   map[string]ast.Expr // nil: does not parse
	programs map[signature]cel.Program
}

// NewFinder makes a Finder for the CEL environment of the API server, in which the work
// of calls is limited as where policies are evaluated.
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

// Fields returns the paths of the fields whose change would change the value of the
// expression, the most telling first, as render.Source.Find takes them. A path may
// be of a field that is absent and should be there. The list is empty when the
// expression depends on no field, or when there is no telling.
func (f *Finder) Fields(q Question) (paths []string) {
	// Functions of CEL libraries are called with values of a policy's choice.
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

// parse returns the expression of a text, nil when it has none.
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
