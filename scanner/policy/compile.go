package policy

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	celgo "github.com/google/cel-go/cel"
	v1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/preadmit/preadmit/scanner/policy/cel"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// Compiler compiles policies, each text once. It is safe for concurrent use.
type Compiler struct {
	// Budget is the limit of the CEL cost of all evaluations together, 0 for a thousand million: a
	// hundred times the server's limit for one policy and request, about 30 s of processor time.
	// Beyond it, verdicts are indeterminate. Evaluations without counted cost are charged a part of
	// their maximum cost.
	Budget int64
	// Settled, when set, are the evaluations without a finding, which compilers of other processes read, one
	// process after the other.
	Settled *settled.Evaluations

	// ShortcutAfter is the number of requests that a policy judges before its validations are evaluated as
	// one expression; 0 for 8.
	ShortcutAfter int64

	whole   cel.Compilers
	partial cel.Compilers    // for unknown values
	watched [2]cel.Compilers // record the values of parts of expressions; the second for unknown values

	cache sync.Map // compiledKey -> func() *compiled
	spent atomic.Int64
}

const defaultBudget = 1_000_000_000

// exhausted reports whether the budget is spent.
func (c *Compiler) exhausted() bool {
	budget := c.Budget
	if budget == 0 {
		budget = defaultBudget
	}
	return c.spent.Load() > budget
}

// NewCompiler makes a Compiler with an empty cache.
func NewCompiler() *Compiler {
	return &Compiler{
		whole: cel.NewCompilers(cel.Environment), partial: cel.NewCompilers(cel.PartialEnvironment),
		watched: [2]cel.Compilers{cel.NewCompilers(watchedEnvironment(cel.Environment)), cel.NewCompilers(watchedEnvironment(cel.PartialEnvironment))},
	}
}

// Tally is the work of a Compiler and its policies so far.
type Tally struct {
	// Compiled is the number of policies that were compiled, Cost the CEL cost of all evaluations.
	Compiled int
	Cost     int64
	// Tried is how many times the validations of a policy were evaluated as one expression, Held how many
	// times it was true.
	Tried, Held int64
}

// Tally returns the work so far.
func (c *Compiler) Tally() Tally {
	t := Tally{Cost: c.spent.Load()}
	c.cache.Range(func(_, once any) bool {
		t.Compiled++
		if s := once.(func() *compiled)().shortcut; s != nil {
			t.Tried, t.Held = t.Tried+s.tried.Load(), t.Held+s.held.Load()
		}
		return true
	})
	return t
}

// compiled are a policy's expressions as programs. A program that does not compile has its error; the
// failure policy decides its effect.
type compiled struct {
	matchConditions  []plugincel.CompilationResult
	validations      []plugincel.CompilationResult
	messages         []plugincel.CompilationResult // one for each validation; without an accessor if it has no messageExpression
	auditAnnotations []plugincel.CompilationResult
	mutations        []plugincel.CompilationResult // of a mutating policy, when it is watched
	variables        []variable
	shortcut         *shortcut
	// readsStatus is set if an expression that affects the verdict may read the status of an object.
	readsStatus bool
	// err is set if the environment itself could not be made.
	err error
}

type variable struct {
	name   string
	result plugincel.CompilationResult
}

func (c *Compiler) compile(p *v1.ValidatingAdmissionPolicy) *compiled { return c.compileFor(p, false) }

// compileFor compiles a policy, for unknown values or for requests without them.
func (c *Compiler) compileFor(p *v1.ValidatingAdmissionPolicy, unknowns bool) *compiled {
	spec, err := json.Marshal(p.Spec)
	if err != nil {
		return &compiled{err: fmt.Errorf("encode policy: %w", err)}
	}
	compilers := c.whole
	if unknowns {
		compilers = c.partial
	}
	once := sync.OnceValue(func() *compiled {
		out := c.compileSpec(&p.Spec, compilers)
		if unknowns && out.err == nil {
			out.failAs(c.compile(p))
		}
		return out
	})
	actual, _ := c.cache.LoadOrStore(compiledKey{sha256.Sum256(spec), unknowns}, once)
	return actual.(func() *compiled)()
}

// compiledKey identifies a compiled policy.
type compiledKey struct {
	spec     [sha256.Size]byte
	unknowns bool
}

// compileSpec follows compilePolicy of the server's plugin: variables are compiled first, in order;
// messages may not use the authorizer.
func (c *Compiler) compileSpec(spec *v1.ValidatingAdmissionPolicySpec, in cel.Compilers) *compiled {
	compiler, err := in.Take(spec)
	if err != nil {
		return &compiled{err: err}
	}
	defer in.Release(compiler)
	return c.compileWith(compiler, spec)
}

func (c *Compiler) compileWith(compiler *cel.Compiler, spec *v1.ValidatingAdmissionPolicySpec) *compiled {
	full := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	message := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil}
	out := &compiled{readsStatus: readsStatus(spec)}
	for _, v := range spec.Variables {
		out.setVariable(v.Name, compiler.Variable(&v, full))
	}
	expression := func(accessor plugincel.ExpressionAccessor, options plugincel.OptionalVariableDeclarations) plugincel.CompilationResult {
		return compiler.CompileCELExpression(accessor, options, environment.StoredExpressions)
	}
	for i := range spec.MatchConditions {
		out.matchConditions = append(out.matchConditions, expression((*matchconditions.MatchCondition)(&spec.MatchConditions[i]), full))
	}
	for _, v := range spec.Validations {
		out.validations = append(out.validations, expression(&validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason}, full))
		var result plugincel.CompilationResult
		if v.MessageExpression != "" {
			result = expression(&messageExpression{v.MessageExpression}, message)
		}
		out.messages = append(out.messages, result)
	}
	if !slices.ContainsFunc(out.validations, func(r plugincel.CompilationResult) bool { return r.Error != nil }) {
		out.shortcut = c.newShortcut(spec)
	}
	for _, a := range spec.AuditAnnotations {
		out.auditAnnotations = append(out.auditAnnotations, expression(&validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression}, full))
	}
	return out
}

// failAs copies the server's compile errors: for unknown values, references to fields that no request has
// would compile.
func (c *compiled) failAs(server *compiled) {
	for _, pair := range [][2][]plugincel.CompilationResult{
		{c.matchConditions, server.matchConditions}, {c.validations, server.validations}, {c.messages, server.messages}, {c.auditAnnotations, server.auditAnnotations},
	} {
		for i := range pair[1] {
			if pair[1][i].Error != nil {
				pair[0][i] = pair[1][i]
			}
		}
	}
	for i := range server.variables {
		if server.variables[i].result.Error != nil {
			c.variables[i] = server.variables[i]
		}
	}
}

// setVariable sets a variable: of two with one name, the last counts.
func (c *compiled) setVariable(name string, result plugincel.CompilationResult) {
	for i := range c.variables {
		if c.variables[i].name == name {
			c.variables[i].result = result
			return
		}
	}
	c.variables = append(c.variables, variable{name, result})
}

// messageExpression implements plugincel.ExpressionAccessor for the expression of a message.
type messageExpression struct{ text string }

// GetExpression implements plugincel.ExpressionAccessor.
func (m *messageExpression) GetExpression() string { return m.text }

// ReturnTypes implements plugincel.ExpressionAccessor.
func (m *messageExpression) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.StringType} }
