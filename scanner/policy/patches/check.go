package patches

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// Problem is a mistake in an expression of a mutation that fails for every request.
type Problem struct {
	// Line and Column, from 1, are inside the expression.
	Line, Column  int
	Message, Hint string
}

// Checker compares patches with the API server's schemas.
type Checker struct {
	cluster *admission.Cluster
	schemas map[schema.GroupVersionKind]*spec.Schema
	envs    map[schema.GroupVersionKind]*cel.Env
}

// NewChecker returns a Checker for the kinds of a cluster.
func NewChecker(cluster *admission.Cluster) *Checker {
	return &Checker{cluster: cluster, schemas: map[schema.GroupVersionKind]*spec.Schema{}, envs: map[schema.GroupVersionKind]*cel.Env{}}
}

// Patches returns the problems of a mutation whose policy matches objects of some kinds. Something
// that one of the kinds accepts is no problem. Without kinds, only problems that do not depend on a
// kind are returned.
func (c *Checker) Patches(m v1.Mutation, kinds []schema.GroupVersionKind) []Problem {
	_, text := ExpressionOf(m)
	structs, err := expressions.Structs(text)
	if err != nil {
		return nil // the API server refuses the policy
	}
	var all []Problem
	for i := range structs {
		s := &structs[i]
		switch {
		case s.Type == "JSONPatch":
			all = append(all, c.operation(s, kinds)...)
		case m.PatchType == v1.PatchTypeApplyConfiguration:
			all = append(all, c.configuration(s, kinds)...)
		}
		if s.Type != "JSONPatch" {
			all = append(all, typeNames(s)...)
		}
	}
	return all
}

// typeNames returns the problems of nested objects that have the type of another field
// (k8s.io/apiserver/pkg/cel/mutation/dynamic, CheckTypeNamesMatchFieldPathNames).
func typeNames(s *expressions.Struct) []Problem {
	var all []Problem
	for _, f := range s.Fields {
		expected := s.Type + "." + f.Name
		for _, name := range f.Types {
			if name != expected {
				all = append(all, Problem{f.Line, f.Column,
					fmt.Sprintf("type mismatch: unexpected type name %q, expected %q, which matches field name path from root Object type", name, expected),
					fmt.Sprintf("write %s{...}", expected)})
			}
		}
	}
	return all
}

// configuration returns the problems of an object in an apply configuration.
func (c *Checker) configuration(s *expressions.Struct, kinds []schema.GroupVersionKind) []Problem {
	parent := strings.Split(s.Type, ".")[1:]
	var all []Problem
	for _, f := range s.Fields {
		path := append(slices.Clone(parent), f.Name)
		name := "." + strings.Join(path, ".")
		if c.all(kinds, func(root *spec.Schema) bool {
			_, above := fieldAt(root, parent, false)
			_, found := fieldAt(root, path, false)
			return above != undeclared && found == undeclared
		}) {
			all = append(all, Problem{f.Line, f.Column, fmt.Sprintf("%s: field not declared in schema%s", name, of(kinds)), "correct the name of the field"})
		}
		written := f.Value == expressions.List || f.Value == expressions.Map || f.Value == expressions.Object
		if written && c.all(kinds, func(root *spec.Schema) bool {
			at, found := fieldAt(root, path, false)
			return found == declared && atomic(at, f.Value)
		}) {
			all = append(all, Problem{f.Line, f.Column,
				fmt.Sprintf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %s", name),
				"write the field by a JSONPatch, which replaces it as a whole"})
		}
	}
	return all
}

// atomic reports whether the written value replaces a field as a whole.
func atomic(s *spec.Schema, value expressions.ValueKind) bool {
	if s.Type.Contains("array") {
		kind, _ := s.Extensions.GetString("x-kubernetes-list-type")
		return value == expressions.List && (kind == "" || kind == "atomic")
	}
	kind, _ := s.Extensions.GetString("x-kubernetes-map-type")
	return value != expressions.List && kind == "atomic"
}

// operations are those of a JSON patch; the value is true for those that read a field and need from.
var operations = map[string]bool{"add": false, "remove": false, "replace": false, "test": false, "copy": true, "move": true}

// operation returns the problems of an operation of a JSON patch.
func (c *Checker) operation(s *expressions.Struct, kinds []schema.GroupVersionKind) []Problem {
	var all []Problem
	op, path, value := s.Field("op"), s.Field("path"), s.Field("value")
	switch {
	case op == nil:
		all = append(all, Problem{s.Line, s.Column, "JSON Patch: Unexpected kind: (there is no op)", "add op"})
	case op.Value == expressions.Text:
		needsFrom, known := operations[op.Text]
		if !known {
			all = append(all, Problem{op.Line, op.Column, "JSON Patch: Unexpected kind: " + op.Text, "write one of add, copy, move, remove, replace, test"})
		} else if needsFrom && s.Field("from") == nil {
			all = append(all, Problem{s.Line, s.Column, fmt.Sprintf("the operation %q has no from", op.Text), "add from, the path of the field that is read"})
		}
	}
	if path != nil && path.Value == expressions.Text && path.Text != "" && !strings.HasPrefix(path.Text, "/") {
		all = append(all, Problem{path.Line, path.Column, fmt.Sprintf("the path %q does not begin with /", path.Text), fmt.Sprintf("write %q", "/"+path.Text)})
	} else if path != nil && path.Value == expressions.Text && op != nil && op.Text != "test" && op.Text != "remove" {
		all = append(all, c.pointer(path, kinds)...)
	}
	if value != nil && value.Value == expressions.List && len(value.Types) > 0 {
		all = append(all, Problem{value.Line, value.Column,
			fmt.Sprintf("the value is a list of %s: kube-apiserver %s panics when it evaluates it, and answers nothing", value.Types[0], admission.KubernetesVersion()),
			"add the elements one by one, each with an operation of its own"})
	}
	return all
}

// pointer returns the problem of a path that no kind has.
func (c *Checker) pointer(path *expressions.StructField, kinds []schema.GroupVersionKind) []Problem {
	if path.Text == "" {
		return nil
	}
	var segments []string
	for _, s := range strings.Split(path.Text[1:], "/") {
		segments = append(segments, strings.NewReplacer("~1", "/", "~0", "~").Replace(s))
	}
	if !c.all(kinds, func(root *spec.Schema) bool {
		_, found := fieldAt(root, segments, true)
		return found == undeclared
	}) {
		return nil
	}
	return []Problem{{path.Line, path.Column, fmt.Sprintf("no field %s%s: the API server refuses the patch of a built-in kind (strict decoding error), and drops the field of a custom one",
		path.Text, of(kinds)), "correct the path"}}
}

// of lists the kinds of a problem.
func of(kinds []schema.GroupVersionKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Kind)
	}
	return " of " + strings.Join(slices.Compact(names), ", ")
}

// all reports whether a condition holds for the schemas of all kinds, and all are known.
func (c *Checker) all(kinds []schema.GroupVersionKind, holds func(*spec.Schema) bool) bool {
	for _, kind := range kinds {
		s := c.schema(kind)
		if s == nil || !holds(s) {
			return false
		}
	}
	return len(kinds) > 0
}

// schema returns the schema of a kind, nil if there is none.
func (c *Checker) schema(kind schema.GroupVersionKind) *spec.Schema {
	s, known := c.schemas[kind]
	if !known {
		s, _ = c.cluster.Schemas().ResolveSchema(kind) // without a schema there are no problems
		c.schemas[kind] = s
	}
	return s
}

// declaration describes whether a schema has a field.
type declaration int

const (
	declared declaration = iota
	undeclared
	// open is a field of an object that may have any fields.
	open
)

// fieldAt returns the schema of a field. If indexed is set, the path contains list indexes.
func fieldAt(s *spec.Schema, path []string, indexed bool) (*spec.Schema, declaration) {
	for _, segment := range path {
		if s.Type.Contains("array") && s.Items != nil && s.Items.Schema != nil {
			s = s.Items.Schema
			if indexed {
				if _, err := strconv.Atoi(segment); err != nil && segment != "-" {
					return nil, open // another problem
				}
				continue
			}
		}
		if anyFields(s) {
			return nil, open
		}
		property, ok := s.Properties[segment]
		switch {
		case ok:
			s = &property
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s = s.AdditionalProperties.Schema
		case s.AdditionalProperties != nil && s.AdditionalProperties.Allows:
			return nil, open
		default:
			return nil, undeclared
		}
	}
	return s, declared
}

// anyFields reports whether the objects of a schema may have any fields.
func anyFields(s *spec.Schema) bool {
	preserved, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource")
	return preserved || embedded || len(s.Properties) == 0 && s.AdditionalProperties == nil
}

// ExpressionOf returns the field of a mutation that holds its expression, and the expression.
func ExpressionOf(m v1.Mutation) (field, text string) {
	switch {
	case m.PatchType == v1.PatchTypeJSONPatch && m.JSONPatch != nil:
		return "jsonPatch.expression", m.JSONPatch.Expression
	case m.PatchType == v1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
		return "applyConfiguration.expression", m.ApplyConfiguration.Expression
	}
	return "", ""
}
