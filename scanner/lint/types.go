package lint

import (
	"context"

	"github.com/preadmit/preadmit/scanner/policy/typecheck"
)

// checkTypes reports the warnings that status.typeChecking of a policy would have. For mutating
// policies, which have no such status, it checks the fields that they read.
func checkTypes(ctx context.Context, c *cluster) {
	checkMutationTypes(c)
	var checker *typecheck.Checker
	for _, p := range c.lintedPolicies() {
		if p.mutation != nil {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if checker == nil {
			checker = typecheck.New(c.State)
		}
		for _, w := range checker.Check(p.ValidatingAdmissionPolicy) {
			line, column := celPosition(w.Warning)
			c.add(remark{
				object: p.Source, fields: []string{w.FieldRef}, line: line, column: column, message: w.Warning,
				hint: "status.typeChecking of the policy will say so; the API server accepts the policy all the same",
			})
		}
	}
}
