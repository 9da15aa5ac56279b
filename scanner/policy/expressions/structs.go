package expressions

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Struct is an object that an expression constructs, such as Object.spec{replicas: 1}.
type Struct struct {
	Type string
	// Line and Column, from 1, are where it begins.
	Line, Column int
	Fields       []StructField
}

// StructField is a field of a Struct.
type StructField struct {
	Name         string
	Line, Column int
	// Value is the kind of the value.
	Value ValueKind
	// Text is the value if it is a string literal, Tail the last literal of texts joined with +.
	Text, Tail string
	// Types are the types of the objects that the value is, or that the elements of a list or map
	// are, as far as they are literals.
	Types []string
}

// ValueKind is the kind of a value by its syntax.
type ValueKind int

// The kinds of values. All expressions other than literals are Computed.
const (
	Computed ValueKind = iota
	Text
	List
	Map
	Object
)

// Field returns a field of a struct, nil if it does not have it.
func (s *Struct) Field(name string) *StructField {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// Structs returns the objects that an expression constructs, outer ones first. It returns an error if
// the expression does not parse.
func Structs(expression string) ([]Struct, error) {
	env, err := estimateEnv()
	if err != nil {
		return nil, fmt.Errorf("make the environment of expressions: %w", err)
	}
	parsed, issues := env.Parse(expression)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	w := &structWalker{info: parsed.NativeRep().SourceInfo(), text: []rune(expression)}
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(w.visit))
	return w.structs, nil
}

// structWalker collects the structs of a syntax tree.
type structWalker struct {
	info    *ast.SourceInfo
	text    []rune
	structs []Struct
}

func (w *structWalker) visit(e ast.Expr) {
	if e.Kind() != ast.StructKind || e.AsStruct().TypeName() == "" {
		return
	}
	s := Struct{Type: e.AsStruct().TypeName()}
	s.Line, s.Column = w.before(e.ID(), s.Type)
	for _, entry := range e.AsStruct().Fields() {
		s.Fields = append(s.Fields, w.field(entry))
	}
	w.structs = append(w.structs, s)
}

func (w *structWalker) field(entry ast.EntryExpr) StructField {
	value := entry.AsStructField().Value()
	f := StructField{Name: entry.AsStructField().Name(), Tail: tail(value)}
	f.Line, f.Column = w.before(entry.ID(), f.Name)
	f.Value, f.Types = kindOf(value)
	if s, ok := literal(value); ok {
		f.Value, f.Text = Text, s
	}
	return f
}

// before returns the position of a name that ends before a part of the expression. The parser gives
// the position of the colon or the brace after the name.
func (w *structWalker) before(id int64, name string) (line, column int) {
	at := w.info.GetStartLocation(id)
	line, column = at.Line(), at.Column()+1
	r, ok := w.info.GetOffsetRange(id)
	if !ok {
		return line, column
	}
	text := strings.TrimRight(string(w.text[:min(int(r.Start), len(w.text))]), " ")
	if strings.HasSuffix(text, name) {
		column -= int(r.Start) - utf8.RuneCountInString(text) + utf8.RuneCountInString(name)
	}
	return line, column
}

// kindOf returns the kind of a value by its syntax, and the types of the objects in it.
func kindOf(e ast.Expr) (ValueKind, []string) {
	var inner []ast.Expr
	kind := Computed
	switch e.Kind() {
	case ast.StructKind:
		return Object, []string{e.AsStruct().TypeName()}
	case ast.ListKind:
		kind, inner = List, e.AsList().Elements()
	case ast.MapKind:
		kind = Map
		for _, entry := range e.AsMap().Entries() {
			inner = append(inner, entry.AsMapEntry().Value())
		}
	}
	var all []string
	for _, element := range inner {
		_, names := kindOf(element)
		all = append(all, names...)
	}
	return kind, all
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// tail returns the last literal of a sum of texts.
func tail(e ast.Expr) string {
	for e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Add {
		e = e.AsCall().Args()[1]
	}
	text, _ := literal(e)
	return text
}
