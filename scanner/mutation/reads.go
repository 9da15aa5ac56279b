package mutation

import (
	"fmt"
	"regexp"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// reads are what the expressions of a policy read.
type reads struct {
	paths []expressions.Path
	// moves is set where a JSON patch may read the object itself.
	moves bool
}

// movesOrTests are the operations of a JSON patch that read the object.
var movesOrTests = regexp.MustCompile(`["'](copy|move|test)["']`)

func readsOf(spec *v1.MutatingAdmissionPolicySpec) (reads, error) {
	var r reads
	for _, text := range texts(spec) {
		paths, err := expressions.Reads(text)
		if err != nil {
			return r, fmt.Errorf("read %q: %w", text, err)
		}
		r.paths = append(r.paths, paths...)
	}
	for _, m := range spec.Mutations {
		r.moves = r.moves || m.JSONPatch != nil && movesOrTests.MatchString(m.JSONPatch.Expression)
	}
	return r, nil
}

// variable reports whether an expression reads a variable.
func (r reads) variable(name string) bool {
	for _, p := range r.paths {
		if p[0] == name {
			return true
		}
	}
	return false
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

// field reports whether an expression reads a field of a variable, a part of it, or what it is
// part of.
func (r reads) field(variable string, field []string) bool {
	for _, p := range r.paths {
		if p[0] == variable && overlap(p[1:], field) {
			return true
		}
	}
	return false
}

// overlap reports whether one path leads to the other. An element of a list may be any.
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
