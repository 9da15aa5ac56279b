package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/cel"
	"github.com/preadmit/preadmit/scanner/policy/patches"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// Watch describes how the expressions of a policy were evaluated for a request, one binding and one
// param, with the values of their parts.
type Watch struct {
	Variables, MatchConditions, Validations, Messages, AuditAnnotations, Mutations []Watched
	// Costs are the costs of groups of expressions, including variables.
	Costs []Cost
	// Sealed is the same with other values in place of those of Secrets; nil when no Secret is read.
	// Differences between both reveal content of a Secret.
	Sealed *Watch
	// Assumed are the reasons why parts of it are not certain.
	Assumed []string
}

// Cost is the cost of a group of expressions and its budget.
type Cost struct {
	Group        string
	Cost, Budget int64
	Exhausted    bool
}

// Watched is the evaluation of an expression.
type Watched struct {
	// Field is the field of the policy, such as spec.validations[0].expression; Name that of a
	// variable, a condition or an audit annotation.
	Field, Name, Expression string
	// AST is the parsed expression; nil when it does not parse.
	AST *ast.AST
	// Evaluated is set when the expression was evaluated: then Value is set, or Err.
	Evaluated bool
	Value     ref.Val
	Err       error
	// Cost is the cost of the expression, without variables.
	Cost int64
	// Parts are the values of its parts in the order of evaluation. More is set if some are left out.
	Parts []cel.Seen
	More  bool
	// Why returns the fields on which an unknown value depends.
	Why func(*celtypes.Unknown) string
}

// Subject is a policy, with binding and param, to watch.
type Subject struct {
	Policy  *Policy
	Binding *Binding
	Param   *admission.Object
	// Object is the object when a mutating policy matched it; nil for that of the request.
	Object map[string]any
	// Mutations are the policy's mutations, Before the object before each of them; nil for one that
	// was not made.
	Mutations []v1.Mutation
	Before    []map[string]any
	// Seal returns the content of an object with other values in place of those that policies copied
	// from Secrets; nil when they copied none.
	Seal func(content map[string]any) map[string]any
}

func watchedEnvironment(of func() (*environment.EnvSet, error)) func() (*environment.EnvSet, error) {
	return func() (*environment.EnvSet, error) { return cel.WatchedEnvironment(of) }
}

// Watch evaluates a policy that matches a request.
func (e *Engine) Watch(ctx context.Context, req *admission.Request, s Subject) (*Watch, error) {
	m := e.matcher.policy(req, s.Policy)
	if m.err != nil {
		return nil, m.err
	}
	version, err := req.Version(m.kind)
	if err != nil {
		return nil, err
	}
	if s.Object != nil {
		with := *version
		with.Object = s.Object
		version = &with
	}
	again := e.dispatch(ctx, req)
	if err := again.namespace().err; err != nil {
		return nil, err
	}
	run := &evaluation{
		dispatch: again, policy: s.Policy, binding: s.Binding, param: s.Param,
		compiled: e.compiler.compile(s.Policy.ValidatingAdmissionPolicy), version: version, resource: m.resource,
	}
	if err := run.prepare(); err != nil {
		return nil, err
	}
	w, err := run.watch(&s)
	tokens := secrets.New(version.Object, version.OldObject, run.params)
	if err != nil || tokens == nil && s.Seal == nil {
		return w, err
	}
	with, subject := *version, s
	with.Object, with.OldObject = s.sealed(tokens, version.Object), tokens.Apply(version.OldObject)
	if known, ok := version.KnownObject.(map[string]any); ok {
		with.KnownObject = s.sealed(tokens, known)
	}
	if known, ok := version.KnownOldObject.(map[string]any); ok {
		with.KnownOldObject = tokens.Apply(known)
	}
	sealed := *run
	sealed.version, sealed.params = &with, tokens.Apply(run.params)
	if known, ok := run.knownParams.(map[string]any); ok {
		sealed.knownParams = tokens.Apply(known)
	}
	subject.Before = nil
	for _, before := range s.Before {
		subject.Before = append(subject.Before, s.sealed(tokens, before))
	}
	w.Sealed, err = sealed.watch(&subject)
	return w, err
}

// sealed returns the content of the object with other values in place of those of Secrets and of those that
// policies copied from Secrets.
func (s *Subject) sealed(tokens *secrets.Tokens, content map[string]any) map[string]any {
	if s.Seal != nil && content != nil {
		content = s.Seal(content)
	}
	return tokens.Apply(content)
}

// Matcher returns the API server's matcher, with the cluster's namespaces.
func (e *Engine) Matcher() generic.PolicyMatcher { return e.matcher.upstream }

// Matches reports whether a policy, or the binding unless it is nil, matches a request. unknown is the reason
// if that is not known.
func (e *Engine) Matches(req *admission.Request, p *Policy, b *Binding) (matches bool, unknown string, err error) {
	var m match
	var open string
	if b != nil {
		m, open = e.matcher.binding(req, b), unknownSpec(b.Source, "matchResources", true)
	} else {
		m, open = e.matcher.policy(req, p), unknownSpec(p.Source, "matchConstraints", true)
	}
	return m.matches && !e.exempt[req.GetResource().GroupResource()], cmp.Or(open, m.unknown), m.err
}

// Params returns the params of a binding for requests in a namespace; a nil element means without a
// param.
func (e *Engine) Params(p *Policy, b *Binding, namespace string) ([]*admission.Object, error) {
	return e.params(p.Spec.ParamKind, b.Spec.ParamRef, namespace)
}

// watcher evaluates each expression of a group with two programs: that of a server, which returns its
// value and cost, and one that records the values of its parts.
type watcher struct {
	*evaluation
	partial         *partial
	plain, watching *compiled
	parse           func(text string) *ast.AST
	variables       *watching
}

// watch evaluates all expressions, in the order of a server.
func (e *evaluation) watch(s *Subject) (*Watch, error) {
	w := &watcher{evaluation: e, partial: e.partial(false), variables: &watching{}}
	kind, whole := 0, e.engine.compiler.whole
	if w.partial != nil {
		kind, whole = 1, e.engine.compiler.partial
	}
	var err error
	if w.plain, _, err = e.engine.compiler.watchable(s, whole); err != nil {
		return nil, err
	}
	if w.watching, w.parse, err = e.engine.compiler.watchable(s, e.engine.compiler.watched[kind]); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, v := range e.policy.Spec.Variables {
		texts[v.Name] = v.Expression
	}
	w.variables.loops = func(name string) cel.Loops { return cel.LoopsOf(w.parse(texts[name])) }
	out, spec := &Watch{}, &e.policy.Spec
	matching := func() *activation {
		a := w.activation(true, e.request.GetResource(), noNamespace)
		a.namespace = noNamespace
		return a
	}
	out.MatchConditions, _ = w.group(out, "matchConditions", matching, celconfig.RuntimeCELCostBudgetMatchConditions, w.plain.matchConditions, w.watching.matchConditions)
	for i := range out.MatchConditions {
		out.MatchConditions[i].Field, out.MatchConditions[i].Name = fmt.Sprintf("spec.matchConditions[%d].expression", i), spec.MatchConditions[i].Name
	}
	if matchesConditions(out.MatchConditions) {
		w.judge(s, out)
	}
	for i, v := range spec.Variables {
		seen := w.variables.of(v.Name)
		seen.Field, seen.Name, seen.Expression = fmt.Sprintf("spec.variables[%d].expression", i), v.Name, v.Expression
		seen.AST, seen.Why = w.parse(v.Expression), w.why
		out.Variables = append(out.Variables, seen)
	}
	out.Assumed = e.why
	return out, nil
}

func matchesConditions(conditions []Watched) bool {
	for _, c := range conditions {
		if c.Value == celtypes.False || c.Err != nil {
			return false
		}
	}
	return true
}

// judge evaluates the expressions that are evaluated when the match conditions hold.
func (w *watcher) judge(s *Subject, out *Watch) {
	object := w.evaluation.namespace().object
	full := func() *activation { return w.activation(true, w.resource, object) }
	plain := func() *activation { return w.activation(false, w.resource, object) }
	left := int64(celconfig.RuntimeCELCostBudget)
	out.Validations, left = w.group(out, "validations", full, left, w.plain.validations, w.watching.validations)
	for i := range out.Validations {
		out.Validations[i].Field = fmt.Sprintf("spec.validations[%d].expression", i)
	}
	if left >= 0 {
		out.Messages, _ = w.group(out, "messageExpressions", plain, left, w.plain.messages, w.watching.messages)
		for i := range out.Messages {
			out.Messages[i].Field = fmt.Sprintf("spec.validations[%d].messageExpression", i)
		}
	}
	whole := func() *activation { return w.activation(false, w.resource, w.evaluation.namespace().wholeObject) }
	out.AuditAnnotations, _ = w.group(out, "auditAnnotations", whole, celconfig.RuntimeCELCostBudget, w.plain.auditAnnotations, w.watching.auditAnnotations)
	for i := range out.AuditAnnotations {
		out.AuditAnnotations[i].Field, out.AuditAnnotations[i].Name = fmt.Sprintf("spec.auditAnnotations[%d].valueExpression", i), w.policy.Spec.AuditAnnotations[i].Key
	}
	for i := range s.Mutations {
		field, text := patches.ExpressionOf(s.Mutations[i])
		if i >= len(s.Before) || s.Before[i] == nil || w.partial != nil {
			out.Mutations = append(out.Mutations, Watched{Field: fmt.Sprintf("spec.mutations[%d].%s", i, field), Expression: text, AST: w.parse(text)})
			continue
		}
		before := func() *activation {
			a := full()
			a.object = s.Before[i]
			return a
		}
		one, _ := w.group(out, fmt.Sprintf("mutations[%d]", i), before, celconfig.RuntimeCELCostBudget, w.plain.mutations[i:i+1], w.watching.mutations[i:i+1])
		one[0].Field = fmt.Sprintf("spec.mutations[%d].%s", i, field)
		out.Mutations = append(out.Mutations, one...)
	}
}

// activation returns the activation of a group, with unknown values.
func (w *watcher) activation(authorizer bool, resource schema.GroupVersionResource, namespace func() any) *activation {
	a := w.evaluation.activation(authorizer, resource, namespace)
	a.meter = new(atomic.Int64)
	a.variables = w.plain.variables
	if w.partial != nil {
		a = w.partial.with(a, w.plain)
	}
	return a
}

func (w *watcher) why(u *celtypes.Unknown) string {
	if w.partial == nil {
		return ""
	}
	return w.partial.unknowns.why(u)
}

// group evaluates expressions that share a budget, and returns the remaining budget.
func (w *watcher) group(out *Watch, name string, with func() *activation, budget int64, programs, watched []plugincel.CompilationResult) ([]Watched, int64) {
	all := make([]Watched, len(programs))
	server, seen, full := with(), with(), budget
	server.watch, seen.watch = &watching{}, w.variables
	seen.variables = w.watching.variables
	for i := range programs {
		one := &all[i]
		if programs[i].ExpressionAccessor == nil {
			continue
		}
		one.Expression, one.Why = programs[i].ExpressionAccessor.GetExpression(), w.why
		if one.AST = w.parse(one.Expression); budget < 0 {
			continue
		}
		before, variables := budget, server.watch.cost
		var r result
		if r, budget, one.Err = server.evaluate(programs[i], budget); one.Err != nil {
			one.Evaluated = true
			continue
		}
		one.Evaluated, one.Value, one.Err = true, r.value, r.err
		one.Cost = before - budget - (server.watch.cost - variables)
		w.variables.take(server.watch)
		if programs[i].Error == nil && watched[i].Error == nil && seen.workload.Excess() == "" {
			record := cel.NewRecording(cel.LoopsOf(one.AST))
			seen.watch.stack = append(seen.watch.stack, record)
			_, _, _ = watched[i].Program.ContextEval(seen.ctx, seen) // the value comes from the other program
			seen.watch.stack = seen.watch.stack[:0]
			one.Parts, one.More = record.Seen, record.More
		}
	}
	w.noteReads(server)
	if slices.ContainsFunc(all, func(one Watched) bool { return one.Evaluated }) {
		out.Costs = append(out.Costs, Cost{name, full - max(budget, 0), full, budget < 0})
	}
	return all, budget
}

// watchable compiles a policy with its mutations, and returns a parser of its expressions.
func (c *Compiler) watchable(s *Subject, in cel.Compilers) (*compiled, func(string) *ast.AST, error) {
	spec := &s.Policy.Spec
	set, err := in.Environment()
	if err != nil {
		return nil, nil, err
	}
	env, err := set.StoredExpressionsEnv().Extend(celgo.EnableMacroCallTracking())
	if err != nil {
		return nil, nil, err
	}
	parse := func(text string) *ast.AST {
		parsed, issues := env.Parse(text)
		if issues.Err() != nil {
			return nil
		}
		return parsed.NativeRep()
	}
	compiler, err := in.Take(spec)
	if err != nil {
		return nil, nil, err
	}
	defer in.Release(compiler)
	out := c.compileWith(compiler, spec)
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true, HasPatchTypes: true}
	for _, m := range s.Mutations {
		var accessor plugincel.ExpressionAccessor
		_, text := patches.ExpressionOf(m)
		if m.PatchType == v1.PatchTypeJSONPatch {
			accessor = &patch.JSONPatchCondition{Expression: text}
		} else {
			accessor = &patch.ApplyConfigurationCondition{Expression: text}
		}
		out.mutations = append(out.mutations, compiler.CompileCELExpression(accessor, options, environment.StoredExpressions))
	}
	return out, parse, nil
}
