package cel

import (
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// Recording records the values of the parts of an expression.
type Recording struct {
	// Seen are the values of the parts in the order of evaluation. More is set if some are left out.
	Seen []Seen
	More bool

	loops Loops
}

// NewRecording returns a Recording of an expression with these loops.
func NewRecording(l Loops) *Recording { return &Recording{loops: l} }

// Seen is the value of a part of an expression.
type Seen struct {
	Part  int64
	Value ref.Val
	// Bound are the variables of the loop whose next iteration begins with this part.
	Bound []ref.Val
}

// maxSeen bounds the recorded values of an expression.
const maxSeen = 20_000

// Add records a value. When there are many, those of loops are left out.
func (r *Recording) Add(vars interpreter.Activation, part int64, value ref.Val) {
	if n := len(r.Seen); n > 0 && r.Seen[n-1].Part == part && r.loops.bound[part] == nil {
		r.Seen[n-1].Value = value // another instruction for the same part
		return
	}
	if len(r.Seen) >= maxSeen && r.loops.inside[part] {
		r.More = true
		return
	}
	s := Seen{Part: part, Value: value}
	for _, name := range r.loops.bound[part] {
		bound, _ := vars.ResolveName(name)
		s.Bound = append(s.Bound, types.DefaultTypeAdapter.NativeToValue(bound))
	}
	r.Seen = append(r.Seen, s)
}

// Loops describes the loops of an expression: the variables that a loop binds, by the part with which
// each iteration begins, and the parts that are evaluated in iterations.
type Loops struct {
	bound  map[int64][]string
	inside map[int64]bool
}

// LoopsOf returns the loops of an expression, none for nil.
func LoopsOf(expression *ast.AST) Loops {
	l := Loops{bound: map[int64][]string{}, inside: map[int64]bool{}}
	if expression == nil {
		return l
	}
	ast.PreOrderVisit(expression.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		c := e.AsComprehension()
		l.bound[c.LoopCondition().ID()] = []string{c.IterVar()}
		if c.HasIterVar2() {
			l.bound[c.LoopCondition().ID()] = []string{c.IterVar(), c.IterVar2()}
		}
		for _, round := range []ast.Expr{c.LoopCondition(), c.LoopStep()} {
			ast.PreOrderVisit(round, ast.NewExprVisitor(func(part ast.Expr) { l.inside[part.ID()] = true }))
		}
	}))
	return l
}

// IsFunction reports whether a server has a function of a name, which may contain dots.
func IsFunction(name string) bool { return functionNames()[name] }

var functionNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: []celgo.EnvOption{environment.UnversionedLib(library.JSONPatch)}, // for mutations
	})
	if err != nil {
		return names
	}
	if env, err := set.Env(environment.StoredExpressions); err == nil {
		for name := range env.Functions() {
			names[name] = true
		}
	}
	return names
})
