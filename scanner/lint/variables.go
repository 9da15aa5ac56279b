package lint

import (
	"context"
	"fmt"
)

// checkDuplicateVariable reports variables that are defined more than once.
func checkDuplicateVariable(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		last := lastVariables(p)
		for i, v := range p.Spec.Variables {
			if last[v.Name] == i {
				continue
			}
			c.add(remark{
				object: p.Source, fields: []string{fmt.Sprintf("spec.variables[%d].name", i)},
				message: fmt.Sprintf("variable %q is defined again in spec.variables[%d], and only that counts", v.Name, last[v.Name]),
				hint:    "remove one of them or give it another name",
			})
		}
	}
}

// checkUnusedVariable reports variables that no expression reads.
func checkUnusedVariable(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		last, used := lastVariables(p), usedVariables(p)
		for i, v := range p.Spec.Variables {
			if last[v.Name] != i || used[v.Name] {
				continue
			}
			c.add(remark{
				object: p.Source, fields: []string{fmt.Sprintf("spec.variables[%d].name", i)},
				message: fmt.Sprintf("variable %q is never used", v.Name), hint: "remove it",
			})
		}
	}
}

// lastVariables returns the index of the last variable with each name, which overrides earlier
// ones.
func lastVariables(p *policySubject) map[string]int {
	last := map[string]int{}
	for i, v := range p.Spec.Variables {
		last[v.Name] = i
	}
	return last
}

// usedVariables returns the names of the variables that expressions read.
func usedVariables(p *policySubject) map[string]bool {
	used := map[string]bool{}
	for _, e := range p.expressions {
		for _, path := range e.reads {
			if path[0] == "variables" && len(path) > 1 {
				used[path[1]] = true
			}
		}
	}
	return used
}
