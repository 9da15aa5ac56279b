package lint

import (
	"context"
	"fmt"
	"strconv"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// realistic is the number of elements that lists, maps and strings of real objects have. A cost is
// reported if it may be too high at this size.
const realistic = 30

// checkCost reports policies whose expressions may cost more than the limits. The API
// server checks the limits only at run time, and then failurePolicy decides.
func checkCost(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		costs := estimates(p)
		if !c.checkExpressionCosts(p, costs) {
			c.checkBudgets(p, costs)
		}
	}
}

// checkExpressionCosts reports each expression that may cost too much by itself. It
// returns whether there is one.
func (c *cluster) checkExpressionCosts(p *policySubject, costs []uint64) (found bool) {
	for i, e := range p.expressions {
		if costs[i] <= expressions.CallLimit {
			continue
		}
		found = true
		c.add(remark{
			object: p.Source, fields: []string{e.field},
			message: fmt.Sprintf("the expression may cost more than the %s that the API server allows for one%s", number(expressions.CallLimit), when(sizeOf(e))),
			hint:    "nest fewer loops (all, exists, map, filter), or look at one list at a time; the estimate is an upper bound",
		})
	}
	return found
}

// checkBudgets reports expressions that may cost too much together.
func (c *cluster) checkBudgets(p *policySubject, costs []uint64) {
	var conditions, rest, mutation sum
	for i, e := range p.expressions {
		switch e.place {
		case inCondition:
			conditions.add(costs[i])
		case inMutation: // each has the whole budget
			mutation = max(mutation, sum(costs[i]))
		default:
			rest.add(costs[i])
		}
	}
	rest.add(uint64(mutation))
	if conditions > expressions.MatchConditionLimit {
		c.overBudget(p, "spec.matchConditions", "match conditions of the policy together", expressions.MatchConditionLimit)
	}
	if rest > expressions.PolicyBudget {
		field, what := "spec.validations", "expressions of the policy together"
		if p.mutation != nil {
			field, what = "spec.mutations", "variables of the policy and a mutation together"
		}
		c.overBudget(p, field, what, expressions.PolicyBudget)
	}
}

func (c *cluster) overBudget(p *policySubject, field, what string, limit int) {
	c.add(remark{
		object: p.Source, fields: []string{field},
		message: fmt.Sprintf("all %s may cost more than the %s that the API server allows, once the lists, maps and strings they read have %d elements", what, number(limit), realistic),
		hint:    "split the policy; the estimate is an upper bound",
	})
}

// unestimated is more than the cost of any expression that reads lists of one element. A higher
// estimate means that the estimator does not know the size of a function's result, such as that of
// lists.range.
const unestimated = 1 << 60

// estimates returns the estimated costs of a policy's expressions.
func estimates(p *policySubject) []uint64 {
	var costs []uint64
	for _, e := range p.expressions {
		costs = append(costs, estimateOf(e))
	}
	return costs
}

// estimateOf returns the highest cost of an expression at realistic sizes, 0 if there is
// no estimate.
func estimateOf(e expression) uint64 {
	cost, err := expressions.Estimate(e.text, realistic)
	if err != nil {
		return 0
	}
	if least, err := expressions.Estimate(e.text, 1); err != nil || least >= unestimated {
		return 0
	}
	return cost
}

// when returns from which size on an expression may cost too much, for a message.
func when(size int) string {
	if size <= 1 {
		return ", whatever it reads"
	}
	return fmt.Sprintf(", once the lists, maps and strings it reads have %d elements", size)
}

// sizeOf returns the smallest size at which an expression may cost too much.
func sizeOf(e expression) int {
	low, high := 0, realistic
	for high-low > 1 {
		middle := (low + high) / 2
		if cost, err := expressions.Estimate(e.text, uint64(middle)); err == nil && cost > expressions.CallLimit {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// sum adds numbers without overflow.
type sum uint64

func (s *sum) add(n uint64) {
	if *s += sum(n); *s < sum(n) {
		*s = sum(expressions.Unbounded)
	}
}

// number formats a number with separated thousands.
func number(n int) string {
	digits := strconv.Itoa(n)
	out := ""
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out += ","
		}
		out += string(d)
	}
	return out
}
