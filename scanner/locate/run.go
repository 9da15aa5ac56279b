package locate

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	policycel "github.com/preadmit/preadmit/scanner/policy/cel"
)

// Limits of one question. The cost is the API server's estimate for a function call; its own limit
// for one expression is ten times as high.
const (
	maxSteps = 200_000
	maxCost  = 1_000_000
	maxDepth = 1_000
)

// run answers one question.
type run struct {
	finder *Finder
	roots  map[string]value
	// variables are the evaluated variables of the policy, texts the expressions of all.
	texts     map[string]string
	variables map[string]value

	steps, cost, depth int
	workload           policycel.Workload
	// mentioned are all fields that were read, used if it cannot be determined which of them
	// matter.
	mentioned fields
}

func newRun(f *Finder, q *Question) *run {
	r := &run{finder: f, texts: q.Variables, variables: map[string]value{}}
	object, oldObject := content(q.Object), content(q.OldObject)
	if q.Object != nil {
		object.at = &path{}
	} else if q.OldObject != nil {
		oldObject.at = &path{}
	}
	namespace := content(q.Namespace)
	namespace.at = &path{text: "metadata.namespace", namespace: true}
	r.roots = map[string]value{
		"object": object, "oldObject": oldObject, "params": content(q.Params),
		"request": r.request(q), "namespaceObject": namespace,
	}
	return r
}

// content returns an object as a CEL value; null if it is absent.
func content(object map[string]any) value {
	if object == nil {
		return value{val: types.NullValue}
	}
	return value{val: types.DefaultTypeAdapter.NativeToValue(object)}
}

// request returns the request. Its name and namespace have the places of the object's.
func (r *run) request(q *Question) value {
	v := content(q.Request)
	v.entries = map[string]value{}
	for _, key := range []string{"name", "namespace"} {
		if text, ok := q.Request[key].(string); ok {
			v.entries[key] = located(types.String(text), &path{text: "metadata." + key}, nil)
		}
	}
	return v
}

// text evaluates an expression without local names.
func (r *run) text(text string) value {
	e := r.finder.parse(text)
	if e == nil {
		return failed("does not parse", nil)
	}
	return r.eval(e, nil)
}

// tooMuchWork is the value of an expression that exceeds the limits.
var tooMuchWork = failed("too much work", nil)

// spent reports whether a limit of the question is exceeded.
func (r *run) spent() bool {
	return r.steps > maxSteps || r.cost > maxCost || r.workload.Excess() != ""
}

// scope holds a local name: a variable of a loop, cel.bind or optMap.
type scope struct {
	outer *scope
	name  string
	value value
}

func (s *scope) with(name string, v value) *scope { return &scope{s, name, v} }

func (s *scope) find(name string) (value, bool) {
	for ; s != nil; s = s.outer {
		if s.name == name {
			return s.value, true
		}
	}
	return value{}, false
}

// eval evaluates an expression.
func (r *run) eval(e ast.Expr, s *scope) value {
	if r.steps++; r.spent() || r.depth >= maxDepth {
		return tooMuchWork
	}
	r.depth++
	defer func() { r.depth-- }()
	switch e.Kind() {
	case ast.LiteralKind:
		return value{val: e.AsLiteral()}
	case ast.IdentKind:
		return r.name(e.AsIdent(), s)
	case ast.SelectKind:
		return r.selected(e.AsSelect(), s)
	case ast.CallKind:
		return r.call(e.AsCall(), s)
	case ast.ListKind:
		return r.list(e.AsList(), s)
	case ast.MapKind:
		return r.mapping(e.AsMap(), s)
	}
	return failed("not supported", nil)
}

func (r *run) evalAll(list []ast.Expr, s *scope) []value {
	values := make([]value, len(list))
	for i, e := range list {
		values[i] = r.eval(e, s)
	}
	return values
}

func (r *run) name(name string, s *scope) value {
	if v, ok := s.find(name); ok {
		return v
	}
	if v, ok := r.roots[name]; ok {
		return v
	}
	return r.apply(signature{name: name, ident: true}, nil)
}

// variable returns the value of a variable of the policy and evaluates it on first use.
func (r *run) variable(name string) value {
	if v, ok := r.variables[name]; ok {
		return v
	}
	text, ok := r.texts[name]
	if !ok {
		return failed("no such variable", nil)
	}
	r.variables[name] = failed("depends on itself", nil)
	v := r.text(text)
	r.variables[name] = v
	return v
}

func (r *run) list(l ast.ListExpr, s *scope) value {
	var items []value
	for i, e := range l.Elements() {
		v := r.eval(e, s)
		if !l.IsOptional(int32(i)) {
			items = append(items, v)
		} else if v.inner != nil {
			items = append(items, *v.inner)
		}
	}
	return listOf(items, nil)
}

func (r *run) mapping(m ast.MapExpr, s *scope) value {
	vals, entries := map[ref.Val]ref.Val{}, map[string]value{}
	var why fields
	for _, e := range m.Entries() {
		entry := e.AsMapEntry()
		key, v := r.eval(entry.Key(), s), r.eval(entry.Value(), s)
		if entry.IsOptional() {
			if v.inner == nil {
				continue
			}
			v = *v.inner
		}
		for _, part := range []value{key, v} {
			if part.isError() {
				return part
			}
			why = union(why, part.reads())
		}
		if isKey(key.val) {
			vals[key.val] = v.val
		}
		if name, ok := key.val.(types.String); ok {
			entries[string(name)] = v.because(key.why)
		}
	}
	return value{val: types.DefaultTypeAdapter.NativeToValue(vals), entries: entries, why: why}
}

// isKey reports whether a map may have the key; other types may not be comparable.
func isKey(v ref.Val) bool {
	switch v.(type) {
	case types.String, types.Int, types.Uint, types.Bool:
		return true
	}
	return false
}
