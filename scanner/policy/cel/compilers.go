package cel

import (
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/traits"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Compilers are the API server's compilers of expressions for one environment. Making a compiler
// takes longer than compiling most policies, so each is reused. They are safe for concurrent use.
type Compilers struct {
	Environment func() (*environment.EnvSet, error)
	// constant returns the compiler for policies without variables, which do not change it.
	constant func() (*Compiler, error)
	// idle are the compilers for policies with variables that are not in use.
	idle *sync.Pool
}

// NewCompilers returns the compilers of an environment.
func NewCompilers(of func() (*environment.EnvSet, error)) Compilers {
	c := Compilers{Environment: sync.OnceValues(of), idle: new(sync.Pool)}
	c.constant = sync.OnceValues(c.new)
	return c
}

// Take returns a compiler for a policy. If the policy has variables, which become part of the
// compiler, it is not shared until it is given back.
func (c Compilers) Take(spec *v1.ValidatingAdmissionPolicySpec) (*Compiler, error) {
	if len(spec.Variables) == 0 {
		return c.constant()
	}
	if compiler, ok := c.idle.Get().(*Compiler); ok {
		return compiler, nil
	}
	return c.new()
}

// Release ends the use of a compiler. Programs that it compiled do not depend on it any more.
func (c Compilers) Release(compiler *Compiler) {
	if len(compiler.variables.Fields) > 0 {
		clear(compiler.variables.Fields)
		c.idle.Put(compiler)
	}
}

// new returns a compiler like that of plugincel.NewCompositedCompiler, which can be used for one
// policy only, since its variables cannot be removed.
func (c Compilers) new() (*Compiler, error) {
	set, err := c.Environment()
	if err != nil {
		return nil, err
	}
	variables := apiservercel.NewObjectType(VariablesType.TypeName(), map[string]*apiservercel.DeclField{})
	set, err = set.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []celgo.EnvOption{celgo.Variable(plugincel.VariableVarName, variables.CelType())},
		DeclTypes:         []*apiservercel.DeclType{variables},
	})
	if err != nil {
		return nil, fmt.Errorf("declare variables: %w", err)
	}
	declared := map[bool]func() (*celgo.Env, error){}
	for _, hasParams := range []bool{false, true} {
		declared[hasParams] = sync.OnceValues(func() (*celgo.Env, error) { return Declare(set, hasParams) })
	}
	return &Compiler{Compiler: plugincel.NewCompiler(set), variables: variables, declared: declared}, nil
}

// Compiler compiles the expressions of a policy.
type Compiler struct {
	plugincel.Compiler
	// variables is the type of `variables`, with a field for each that was compiled.
	variables *apiservercel.DeclType
	// declared are the environments of policies without params and with.
	declared map[bool]func() (*celgo.Env, error)
}

// Counted compiles a boolean expression.
func (c *Compiler) Counted(expression string, options plugincel.OptionalVariableDeclarations) (celgo.Program, error) {
	result := c.CompileCELExpression(&validating.ValidationCondition{Expression: expression}, options, environment.StoredExpressions)
	if result.Error != nil {
		return nil, result.Error
	}
	return result.Program, nil
}

// Uncounted compiles an expression whose cost is not counted.
func (c *Compiler) Uncounted(expression string, options plugincel.OptionalVariableDeclarations) (*Uncounted, error) {
	env, err := c.declared[options.HasParams]()
	if err != nil {
		return nil, err
	}
	return NewUncounted(env, expression)
}

// Variable compiles a variable, which expressions compiled later may read.
func (c *Compiler) Variable(v *v1.Variable, options plugincel.OptionalVariableDeclarations) plugincel.CompilationResult {
	result := c.CompileCELExpression(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.StoredExpressions)
	c.variables.Fields[v.Name] = apiservercel.NewDeclField(v.Name, declaredType(result.OutputType), true, nil, nil)
	return result
}

// VariablesType is the type of the `variables` value. Fields are checked at
// compile time, so the run-time type needs none.
var VariablesType = apiservercel.NewObjectType("kubernetes.variables", nil)

// simpleTypes are the types of variables that a server declares unchanged.
var simpleTypes = map[*celgo.Type]*apiservercel.DeclType{
	celgo.AnyType: apiservercel.AnyType, celgo.BoolType: apiservercel.BoolType, celgo.BytesType: apiservercel.BytesType,
	celgo.DoubleType: apiservercel.DoubleType, celgo.DurationType: apiservercel.DurationType, celgo.IntType: apiservercel.IntType,
	celgo.NullType: apiservercel.NullType, celgo.StringType: apiservercel.StringType, celgo.TimestampType: apiservercel.TimestampType,
	celgo.UintType: apiservercel.UintType,
}

// declaredType returns the type that a server declares for a variable: dyn for all but simple types,
// lists and maps, and for a variable that does not compile.
func declaredType(t *celgo.Type) *apiservercel.DeclType {
	if simple, ok := simpleTypes[t]; ok {
		return simple
	}
	if t == nil || !t.HasTrait(traits.ContainerType) || !t.HasTrait(traits.IndexerType) {
		return apiservercel.DynType
	}
	switch of := t.Parameters(); len(of) {
	case 1:
		return apiservercel.NewListType(declaredType(of[0]), -1)
	case 2:
		return apiservercel.NewMapType(declaredType(of[0]), declaredType(of[1]), -1)
	}
	return apiservercel.DynType
}
