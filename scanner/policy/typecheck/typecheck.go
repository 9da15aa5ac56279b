// Package typecheck checks the types of policies as a cluster does.
package typecheck

import (
	"regexp"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/preadmit/preadmit/scanner/admission"
)

// Checker checks the types of policies as a cluster does for status.typeChecking, with its checker
// and limits: at most ten kinds, no wildcards, validations and their messageExpressions only.
type Checker struct{ upstream validating.TypeChecker }

// New returns a Checker for the kinds of a cluster.
func New(c *admission.Cluster) *Checker {
	return &Checker{validating.TypeChecker{SchemaResolver: c.Schemas(), RestMapper: restMapper(c.Resources())}}
}

// Check returns status.typeChecking.expressionWarnings of a policy. Random numbers in the server's
// type names are 0 here.
func (t *Checker) Check(p *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
	warnings := t.upstream.Check(p)
	for i := range warnings {
		warnings[i].Warning = numbered.ReplaceAllStringFunc(warnings[i].Warning, func(line string) string {
			return typeNumber.ReplaceAllString(line, "${1}0")
		})
	}
	return warnings
}

var (
	// numbered matches the lines of a warning that name types: not those that quote the expression.
	numbered = regexp.MustCompile(`(?m)^(.*: )?ERROR: <input>:.*$`)
	// typeNumber matches the name of a type of the checker, which ends with the nanosecond of its
	// creation. Names of nested types follow after a dot.
	typeNumber = regexp.MustCompile(`\b([A-Z][A-Za-z]*)\d{1,9}\b`)
)
