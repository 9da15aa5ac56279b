package expressions

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Path is a path into a variable of an expression: its name, then field names,
// map keys and list indexes. Each stands for all elements of a list.
type Path []string

// Each is the segment for "every element".
const Each = "[*]"

func (p Path) String() string {
	var b strings.Builder
	for i, segment := range p {
		switch {
		case i == 0, strings.HasPrefix(segment, "["):
			b.WriteString(segment)
		case isIdentifier(segment):
			b.WriteString("." + segment)
		default:
			fmt.Fprintf(&b, "['%s']", segment)
		}
	}
	return b.String()
}

func isIdentifier(s string) bool {
	ok, _ := regexp.MatchString(`^[A-Za-z_][A-Za-z0-9_]*$`, s)
	return ok
}

// Reads returns the paths that an expression reads, in the order of the text, without those that are
// the beginning of another. It returns an error if the expression does not parse.
func Reads(expression string) ([]Path, error) {
	r, err := read(expression)
	if err != nil {
		return nil, err
	}
	return Longest(r.paths), nil
}

// Depends returns the paths of the values on which an expression depends, including those of which it
// reads a part too, and the paths that it only tests for presence. The error is that of Reads.
func Depends(expression string) (values, tests []Path, err error) {
	r, err := read(expression)
	if err != nil {
		return nil, nil, err
	}
	for i, p := range r.paths {
		if r.tests[i] {
			tests = append(tests, p)
		} else {
			values = append(values, p)
		}
	}
	return values, tests, nil
}

// Read is a path that an expression reads.
type Read struct {
	Path Path
	// Ranges is set if it only reads the number of elements of a list, or the keys of a map. Tests is
	// set if it only tests whether the value exists.
	Ranges, Tests bool
}

// AllReads returns everything that an expression reads: its result depends on nothing else of its variables.
// The error is that of Reads.
func AllReads(expression string) ([]Read, error) {
	r, err := read(expression)
	if err != nil {
		return nil, err
	}
	var all []Read
	for i, p := range r.paths {
		all = append(all, Read{Path: p, Ranges: r.ranges[i], Tests: r.tests[i]})
	}
	return all, nil
}

// read parses an expression and collects its paths.
func read(expression string) (*reader, error) {
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(environment.StoredExpressions)
	if err != nil {
		return nil, fmt.Errorf("make the environment of expressions: %w", err)
	}
	parsed, issues := env.Parse(expression)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	r := &reader{tests: map[int]bool{}, ranges: map[int]bool{}}
	r.walk(parsed.NativeRep().Expr(), nil)
	return r, nil
}

// reader collects paths from a syntax tree.
type reader struct {
	paths []Path
	// tests are the indexes of paths that are only tested for presence, by has; ranges are those of the
	// ranges of loops.
	tests, ranges map[int]bool
}

// scope maps a name that a comprehension binds to its path; the path is nil for a name without one.
type scope struct {
	name  string
	path  Path
	outer *scope
}

func (s *scope) lookUp(name string) (Path, bool) {
	for ; s != nil; s = s.outer {
		if s.name == name {
			return s.path, true
		}
	}
	return Path{name}, false
}

// walk records the paths that e reads.
func (r *reader) walk(e ast.Expr, s *scope) {
	if path, ok := r.path(e, s); ok {
		if path != nil {
			r.tests[len(r.paths)] = e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
			r.paths = append(r.paths, path)
		}
		return
	}
	switch e.Kind() {
	case ast.SelectKind:
		r.walk(e.AsSelect().Operand(), s)
	case ast.CallKind:
		if c := e.AsCall(); c.IsMemberFunction() {
			r.walk(c.Target(), s)
		}
		r.walkAll(e.AsCall().Args(), s)
	case ast.ListKind:
		r.walkAll(e.AsList().Elements(), s)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.walkAll([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()}, s)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			r.walk(field.AsStructField().Value(), s)
		}
	case ast.ComprehensionKind:
		r.walkComprehension(e.AsComprehension(), s)
	}
}

func (r *reader) walkAll(exprs []ast.Expr, s *scope) {
	for _, e := range exprs {
		r.walk(e, s)
	}
}

// walkComprehension walks a comprehension: all, exists, map, filter and similar macros iterate over a
// range; optMap binds a value to the accumulator of an empty one.
func (r *reader) walkComprehension(c ast.ComprehensionExpr, s *scope) {
	if path, ok := r.path(c.IterRange(), s); ok && path != nil {
		r.ranges[len(r.paths)] = true
		r.paths = append(r.paths, path)
	} else if !ok {
		r.walk(c.IterRange(), s)
	}
	r.walk(c.AccuInit(), s)
	r.walkAll([]ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()}, r.bind(c, s))
}

// bind returns the scope with the names that a comprehension binds.
func (r *reader) bind(c ast.ComprehensionExpr, s *scope) *scope {
	init, _ := r.path(c.AccuInit(), s)
	element := r.element(c.IterRange(), s)
	inner := &scope{c.AccuVar(), init, s}
	if !c.HasIterVar2() {
		return &scope{c.IterVar(), element, inner}
	}
	inner = &scope{c.IterVar(), nil, inner} // an index or key
	return &scope{c.IterVar2(), element, inner}
}

// element returns the path of the elements of a list or map; nil when they have none.
func (r *reader) element(e ast.Expr, s *scope) Path {
	if e.Kind() == ast.ComprehensionKind {
		c := e.AsComprehension()
		return r.appended(c.LoopStep(), r.bind(c, s))
	}
	path, _ := r.path(e, s)
	return joinKnown(path, Each)
}

// appended returns the path of the value that the step of filter or map appends to its result:
// accumulator + [element], which may be conditional.
func (r *reader) appended(step ast.Expr, s *scope) Path {
	if step.Kind() != ast.CallKind {
		return nil
	}
	switch args := step.AsCall().Args(); step.AsCall().FunctionName() {
	case operators.Conditional:
		return r.appended(args[1], s)
	case operators.Add:
		if list := args[1]; list.Kind() == ast.ListKind && list.AsList().Size() == 1 {
			path, _ := r.path(list.AsList().Elements()[0], s)
			return path
		}
	}
	return nil
}

// path returns the path that e is; ok is false when e is no path, and the path nil when it is a name
// without one.
func (r *reader) path(e ast.Expr, s *scope) (path Path, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		path, _ = s.lookUp(e.AsIdent())
		return path, true
	case ast.SelectKind:
		operand, ok := r.path(e.AsSelect().Operand(), s)
		return joinKnown(operand, e.AsSelect().FieldName()), ok
	case ast.CallKind:
		return r.callPath(e.AsCall(), s)
	}
	return nil, false
}

// callPath returns the path of a call: indexing and optional field selection are calls.
func (r *reader) callPath(c ast.CallExpr, s *scope) (Path, bool) {
	if c.IsMemberFunction() {
		if c.FunctionName() == "value" && len(c.Args()) == 0 { // of an optional
			return r.path(c.Target(), s)
		}
		return nil, false
	}
	switch c.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
	default:
		return nil, false
	}
	operand, ok := r.path(c.Args()[0], s)
	if !ok {
		return nil, false
	}
	key := c.Args()[1]
	if key.Kind() != ast.LiteralKind {
		r.walk(key, s)
		return joinKnown(operand, Each), true
	}
	switch v := key.AsLiteral().(type) {
	case types.String:
		return joinKnown(operand, string(v)), true
	case types.Int:
		return joinKnown(operand, "["+strconv.FormatInt(int64(v), 10)+"]"), true
	}
	return joinKnown(operand, Each), true
}

func join(p Path, segment string) Path { return append(slices.Clone(p), segment) }

func joinKnown(p Path, segment string) Path {
	if p == nil {
		return nil
	}
	return join(p, segment)
}

// Longest returns paths without duplicates and without those that are the beginning of another.
func Longest(paths []Path) []Path {
	var kept []Path
	for _, p := range paths {
		covered := slices.ContainsFunc(kept, func(k Path) bool { return slices.Equal(k, p) }) ||
			slices.ContainsFunc(paths, func(other Path) bool {
				return len(other) > len(p) && slices.Equal(other[:len(p)], p)
			})
		if !covered {
			kept = append(kept, p)
		}
	}
	return kept
}
