package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/preadmit/preadmit/render"
)

// Difference selects fields that are not compared.
type Difference struct {
	Group                 string   `json:"group"`
	Kind                  string   `json:"kind"`
	Name                  string   `json:"name"`
	Namespace             string   `json:"namespace"`
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
}

// Ignored returns the fields that are not changed in the cluster by syncs of Applications with
// RespectIgnoreDifferences.
func (s *Settings) Ignored() ([]render.Ignored, error) {
	differences, err := s.Differences()
	if err != nil {
		return nil, err
	}
	var all []render.Ignored
	for _, d := range differences {
		fields, field, err := IgnoredBy([]Difference{d})
		if err != nil {
			return nil, fmt.Errorf("%s, of %s/%s: %w", strings.TrimPrefix(field, "ignoreDifferences[0]."), d.Group, d.Kind, err)
		}
		all = append(all, fields...)
	}
	return all, nil
}

// IgnoredBy returns the fields that differences select. On an error, field is the path of the invalid expression.
func IgnoredBy(differences []Difference) (fields []render.Ignored, field string, err error) {
	for i := range differences {
		d := &differences[i]
		add := func(path []string, exact bool, reason string) {
			fields = append(fields, render.Ignored{Group: d.Group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name, Path: path, Exact: exact, Reason: reason})
		}
		const left = "ignoreDifferences leaves it to others"
		for _, pointer := range d.JSONPointers {
			if path, ok := pointed(pointer); ok {
				add(path, true, left)
			}
		}
		for j, expression := range d.JQPathExpressions {
			query, err := gojq.Parse(expression)
			if err != nil {
				return nil, fmt.Sprintf("ignoreDifferences[%d].jqPathExpressions[%d]", i, j), fmt.Errorf("%q is not an expression of jq: %w", expression, err)
			}
			paths, ok := queried(query)
			if !ok {
				add(nil, false, fmt.Sprintf("ignoreDifferences leaves what the expression %s selects to others", expression))
			}
			for _, path := range paths {
				add(path, false, left)
			}
		}
		for _, manager := range d.ManagedFieldsManagers {
			add(nil, false, "ignoreDifferences leaves the fields of manager "+manager+" to it")
		}
	}
	return fields, "", nil
}

// pointed returns the path of a JSON Pointer (RFC 6901). An invalid pointer has no effect.
func pointed(pointer string) (path []string, ok bool) {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(rest, "/") {
		path = append(path, unescape.Replace(step))
	}
	return path, true
}

// Limits for the paths of a jq expression. An expression that exceeds them is treated as one that may select anything.
const (
	mostPaths   = 1000
	longestPath = 100
)

// queried returns paths that cover each field a jq query may select, whatever the object contains: conditions are not
// evaluated. ok is false for a query that may select anything.
func queried(q *gojq.Query) (paths [][]string, ok bool) {
	switch {
	case q == nil || len(q.FuncDefs) > 0 || len(q.Imports) > 0 || len(q.Patterns) > 0:
		return nil, false
	case q.Term != nil:
		return selected(q.Term)
	}
	left, ok := queried(q.Left)
	if !ok {
		return nil, false
	}
	right, ok := queried(q.Right)
	if !ok {
		return nil, false
	}
	switch q.Op {
	case gojq.OpPipe:
		return appended(left, right)
	case gojq.OpComma, gojq.OpAlt:
		return slices.Concat(left, right), len(left)+len(right) <= mostPaths
	}
	return nil, false
}

// selected returns the paths of a term, like queried.
func selected(t *gojq.Term) (paths [][]string, ok bool) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		paths = [][]string{nil}
	case gojq.TermTypeIndex:
		paths, ok = indexed(t.Index)
	case gojq.TermTypeQuery:
		paths, ok = queried(t.Query)
	case gojq.TermTypeFunc:
		paths, ok = [][]string{nil}, t.Func.Name == "select" && len(t.Func.Args) == 1
	}
	if t.Type != gojq.TermTypeIdentity && !ok {
		return nil, false
	}
	for _, suffix := range t.SuffixList {
		next := [][]string{nil}
		switch {
		case suffix.Index != nil:
			if next, ok = indexed(suffix.Index); !ok {
				return nil, false
			}
		case suffix.Iter:
			next = [][]string{{render.AnyItem}}
		case !suffix.Optional:
			return nil, false
		}
		if paths, ok = appended(paths, next); !ok {
			return nil, false
		}
	}
	return paths, true
}

// indexed returns the step of an index as a path.
func indexed(i *gojq.Index) (paths [][]string, ok bool) {
	switch {
	case i.Name != "":
		return [][]string{{i.Name}}, true
	case i.Str != nil:
		return [][]string{{i.Str.Str}}, len(i.Str.Queries) == 0
	case i.Start != nil && !i.IsSlice && i.Start.Term != nil && i.Start.Term.Type == gojq.TermTypeString && len(i.Start.Term.Str.Queries) == 0:
		return [][]string{{i.Start.Term.Str.Str}}, true
	}
	return [][]string{{render.AnyItem}}, true
}

// appended returns all concatenations of a path and one of others.
func appended(paths, others [][]string) (all [][]string, ok bool) {
	if len(paths)*len(others) > mostPaths {
		return nil, false
	}
	for _, path := range paths {
		for _, other := range others {
			if len(path)+len(other) > longestPath {
				return nil, false
			}
			all = append(all, slices.Concat(path, other))
		}
	}
	return all, true
}
