package lint

import (
	"fmt"
	"strconv"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// realistic is a size that lists, maps and strings of real objects have: cost is
// reported when this many elements can be too many.
const realistic = 30

// checkCost reports expressions whose cost may pass a limit. The API server checks
// it at run time only, and then fails the request by failurePolicy.
func (c *cluster) checkCost(p *policySubject) {
	var conditions, rest sum
	reported := false
	for _, e := range expressionsOf(p) {
		estimate := estimateOf(e)
		if estimate > policy.CallLimit {
			reported = true
			c.add(remark{
				rule: report.RuleCost, object: p.Source, fields: []string{e.field},
				message: fmt.Sprintf("the expression may cost more than the %s that the API server allows for one%s", number(policy.CallLimit), when(sizeOf(e))),
				hint:    "nest fewer loops (all, exists, map, filter), or look at one list at a time; the estimate is an upper bound",
			})
		}
		if e.place == inCondition {
			conditions.add(estimate)
		} else {
			rest.add(estimate)
		}
	}
	if reported {
		return
	}
	if conditions > policy.MatchConditionLimit {
		c.overBudget(p, "spec.matchConditions", "match conditions", policy.MatchConditionLimit)
	}
	if rest > policy.PolicyBudget {
		c.overBudget(p, "spec.validations", "expressions", policy.PolicyBudget)
	}
}

func (c *cluster) overBudget(p *policySubject, field, what string, limit int) {
	c.add(remark{
		rule: report.RuleCost, object: p.Source, fields: []string{field},
		message: fmt.Sprintf("all %s of the policy together may cost more than the %s that the API server allows, once the lists, maps and strings they read have %d elements", what, number(limit), realistic),
		hint:    "split the policy; the estimate is an upper bound",
	})
}

// unestimated is more than anything costs that reads lists of one element: the
// estimator does not know how much a function gives, as with lists.range.
const unestimated = 1 << 60

// estimateOf is the most an expression costs at realistic sizes. One without an
// estimate counts nothing.
func estimateOf(e expression) uint64 {
	cost, err := policy.Estimate(e.text, realistic)
	if err != nil {
		return 0
	}
	if least, err := policy.Estimate(e.text, 1); err != nil || least >= unestimated {
		return 0
	}
	return cost
}

// when says from which size on.
func when(size int) string {
	if size <= 1 {
		return ", whatever it reads"
	}
	return fmt.Sprintf(", once the lists, maps and strings it reads have %d elements", size)
}

// sizeOf is the smallest size at which an expression may cost too much.
func sizeOf(e expression) int {
	low, high := 0, realistic
	for high-low > 1 {
		middle := (low + high) / 2
		if cost, err := policy.Estimate(e.text, uint64(middle)); err == nil && cost > policy.CallLimit {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// sum adds without overflow.
type sum uint64

func (s *sum) add(n uint64) {
	if *s += sum(n); *s < sum(n) {
		*s = sum(policy.Unbounded)
	}
}

// number writes a number with its thousands apart.
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
