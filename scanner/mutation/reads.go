package mutation

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// reads are the paths that the expressions of a policy read.
type reads struct {
	paths []expressions.Path
	// tests are the paths that are only tested for presence.
	tests []expressions.Path
	// moves is set if a JSON patch may read the object itself.
	moves bool
}

// movesOrTests matches the operations of a JSON patch that read the object.
var movesOrTests = regexp.MustCompile(`["'](copy|move|test)["']`)

// readsOf returns the reads of the match conditions of a policy, and those of all its expressions.
func readsOf(spec *v1.MutatingAdmissionPolicySpec) (conditions, r reads, err error) {
	for _, c := range spec.MatchConditions {
		err = errors.Join(err, conditions.add(c.Expression))
	}
	if conditions.variable("variables") {
		for _, v := range spec.Variables {
			err = errors.Join(err, conditions.add(v.Expression))
		}
	}
	for _, text := range texts(spec) {
		err = errors.Join(err, r.add(text))
	}
	for _, m := range spec.Mutations {
		r.moves = r.moves || m.JSONPatch != nil && movesOrTests.MatchString(m.JSONPatch.Expression)
	}
	return conditions, r, err
}

// add adds the reads of an expression.
func (r *reads) add(text string) error {
	values, tests, err := expressions.Depends(text)
	if err != nil {
		return fmt.Errorf("read %q: %w", text, err)
	}
	r.paths, r.tests = append(r.paths, values...), append(r.tests, tests...)
	return nil
}

// variable reports whether an expression reads a variable.
func (r reads) variable(name string) bool {
	return slices.ContainsFunc(slices.Concat(r.paths, r.tests), func(p expressions.Path) bool { return p[0] == name })
}

// among returns the unknown fields of a request that expressions read.
func (r reads) among(req *admission.Request) []render.Unknown {
	fields, oldFields := req.Unknown()
	var found []render.Unknown
	for variable, all := range map[string][]render.Unknown{"object": fields, "oldObject": oldFields} {
		for _, f := range all {
			if r.moves && variable == "object" || r.field(variable, f.Path) {
				found = append(found, f)
			}
		}
	}
	return found
}

// field reports whether an expression reads a field of a variable, a part of it, or a value that
// contains it. A test for presence does not count if it is of a value that contains the field: that
// exists whatever the field's value is.
func (r reads) field(variable string, field []string) bool {
	return slices.ContainsFunc(r.paths, func(p expressions.Path) bool { return p[0] == variable && overlap(p[1:], field) }) ||
		slices.ContainsFunc(r.tests, func(p expressions.Path) bool {
			return p[0] == variable && len(p)-1 >= len(field) && overlap(p[1:], field)
		})
}

// overlap reports whether one path is the beginning of the other. An element of a list matches any
// other.
func overlap(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && !isElement(a[i]) && !isElement(b[i]) {
			return false
		}
	}
	return true
}

func isElement(segment string) bool {
	return strings.HasPrefix(segment, "[") || strings.Trim(segment, "0123456789") == ""
}
