package cel

import (
	"maps"
	"math"
	"math/bits"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

// Unbounded is the bound of costs that have none.
const Unbounded = uint64(math.MaxUint64)

// Sizes bound the lists and maps of some values, and their texts, in elements and bytes. Both fields are
// numbers of binary digits.
type Sizes struct{ Items, Text int }

// SizesOf returns the sizes of content.
func SizesOf(content ...any) (of Sizes) {
	for _, value := range content {
		of.add(value)
	}
	return of
}

func (s *Sizes) add(value any) {
	switch v := value.(type) {
	case string:
		s.Text = max(s.Text, bits.Len(uint(len(v))))
	case map[string]any:
		s.Items = max(s.Items, bits.Len(uint(len(v))))
		for key, item := range v {
			s.Text = max(s.Text, bits.Len(uint(len(key))))
			s.add(item)
		}
	case []any:
		s.Items = max(s.Items, bits.Len(uint(len(v))))
		for _, item := range v {
			s.add(item)
		}
	}
}

// Join returns sizes that bound the values of both.
func (s Sizes) Join(other Sizes) Sizes {
	return Sizes{max(s.Items, other.Items), max(s.Text, other.Text)}
}

// sources are the parts of an expression that read content, by their IDs. The value is true for ranges of
// loops.
type sources map[int64]bool

// sourcesOf returns the parts of an expression that read object, oldObject, params or request.
func sourcesOf(e ast.Expr) sources {
	s := sources{}
	s.visit(e, map[string]bool{plugincel.ObjectVarName: true, plugincel.OldObjectVarName: true, plugincel.ParamsVarName: true, plugincel.RequestVarName: true})
	return s
}

// visit records the parts of an expression, and reports whether it reads content. names are the variables
// that do.
func (s sources) visit(e ast.Expr, names map[string]bool) (reads bool) {
	switch e.Kind() {
	case ast.IdentKind:
		reads = names[e.AsIdent()]
	case ast.SelectKind:
		reads = s.visit(e.AsSelect().Operand(), names) && !e.AsSelect().IsTestOnly()
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			s.visit(call.Target(), names)
		}
		for i, arg := range call.Args() {
			if is := s.visit(arg, names); i == 0 && call.FunctionName() == operators.Index {
				reads = is
			}
		}
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			s.visit(element, names)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			s.visit(entry.AsMapEntry().Key(), names)
			s.visit(entry.AsMapEntry().Value(), names)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			s.visit(field.AsStructField().Value(), names)
		}
	case ast.ComprehensionKind:
		s.loop(e.AsComprehension(), names)
	}
	if reads {
		s[e.ID()] = s[e.ID()]
	}
	return reads
}

// loop records the parts of a loop. The size of its result is not known.
func (s sources) loop(loop ast.ComprehensionExpr, names map[string]bool) {
	reads := s.visit(loop.IterRange(), names)
	if reads {
		s[loop.IterRange().ID()] = true
	}
	s.visit(loop.AccuInit(), names)
	inner := maps.Clone(names)
	inner[loop.AccuVar()], inner[loop.IterVar()] = false, reads
	if loop.HasIterVar2() {
		inner[loop.IterVar2()] = reads
	}
	s.visit(loop.LoopCondition(), inner)
	s.visit(loop.LoopStep(), inner)
	inner[loop.IterVar()] = false // the result may read another variable of that name, of unknown size
	s.visit(loop.Result(), inner)
}

// sizeEstimator estimates the sizes of the inputs of an expression.
type sizeEstimator struct {
	of      Sizes
	sources sources
}

// EstimateSize implements checker.CostEstimator.
func (s sizeEstimator) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	if node.Expr() == nil { // created by the estimate of a call
		return nil
	}
	isRange, reads := s.sources[node.Expr().ID()]
	if !reads {
		return nil
	}
	digits := s.of.Items
	if !isRange {
		digits = max(digits, s.of.Text)
	}
	return &checker.SizeEstimate{Max: 1<<digits - 1}
}

// EstimateCallCost implements checker.CostEstimator: the library's costs apply.
func (s sizeEstimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
