package lint

import (
	"context"

	"github.com/preadmit/preadmit/scanner/policy"
)

// checkTypes reports what status.typeChecking would say.
func checkTypes(ctx context.Context, c *cluster) {
	var checker *policy.TypeChecker
	for _, p := range c.lintedPolicies() {
		if ctx.Err() != nil {
			return
		}
		if checker == nil {
			checker = policy.NewTypeChecker(c.State)
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
