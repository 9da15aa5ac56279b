package flux

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// substitutionError is the error of substitution in an object of a build, in a field unless that is empty.
type substitutionError struct {
	index int
	field string
	err   error
}

func (e *substitutionError) Error() string { return e.err.Error() }
func (e *substitutionError) Unwrap() error { return e.err }

// failingField returns the first field of an object in which substitution fails, and the error. It is empty if no
// single field causes the error, or finding it would take too long.
func (r *substituter) failingField(o *render.Object, content map[string]any) (field string, why error) {
	if text, err := yaml.JSONToYAML(o.JSON); err != nil || checkText(string(text)) != nil {
		return "", nil
	}
	s := &search{substituter: r}
	s.below(content, "")
	return s.field, s.why
}

// search searches for a field in which substitution fails.
type search struct {
	*substituter
	spent cost
	field string
	why   error
}

// below searches a value, and reports whether the search has ended.
func (s *search) below(value any, path string) bool {
	switch v := value.(type) {
	case string:
		return s.inText(v, path)
	case []any:
		for i, item := range v {
			if s.below(item, fmt.Sprintf("%s[%d]", path, i)) {
				return true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s.below(v[key], origin.AppendKey(path, key)) {
				return true
			}
		}
	}
	return false
}

func (s *search) inText(text, path string) bool {
	if !strings.Contains(text, "$") {
		return false
	}
	if template, err := parse.Parse(text); err == nil {
		s.spent = s.spent.plus(s.cost(template.Root))
	}
	if s.spent.bytes > maxExpansion || s.spent.steps > maxMatching {
		return true
	}
	data, _ := json.Marshal(map[string]string{"a": text}) // strings
	_, marks, err := s.content(data)
	if err == nil || len(marks) > 0 {
		return false
	}
	if bad := new(noYAMLError); errors.As(err, &bad) {
		var names []string
		for _, name := range usedIn(text) {
			names = append(names, "${"+name+"}")
		}
		err = fmt.Errorf("with the value of %s it is no YAML: %s", strings.Join(names, ", "), bad.why)
	}
	s.field, s.why = path, err
	return true
}
