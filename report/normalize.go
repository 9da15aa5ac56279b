package report

import "slices"

// Normalized returns a copy of the report with empty lists and maps in place of nil ones.
func (r *Report) Normalized() *Report {
	c := *r
	c.Findings = notNil(c.Findings)
	c.Indeterminate = notNil(c.Indeterminate)
	c.Diagnostics = notNil(c.Diagnostics)
	if c.Summary.Findings == nil {
		c.Summary.Findings = map[Action]map[Status]int{}
	}
	if c.Changes != nil {
		c.Changes = &Changes{Objects: notNil(c.Changes.Objects), LeftOut: c.Changes.LeftOut}
	}
	if len(c.Charts) > 0 {
		c.Charts = slices.Clone(c.Charts)
		for i := range c.Charts {
			c.Charts[i].Objects = notNil(c.Charts[i].Objects)
		}
	}
	copied := false
	for i := range c.Findings {
		if c.Findings[i].Actions != nil {
			continue
		}
		if !copied {
			c.Findings, copied = slices.Clone(c.Findings), true
		}
		c.Findings[i].Actions = []Action{}
	}
	return &c
}

// Normalized returns a copy of the comparison with empty lists in place of nil ones.
func (c *Comparison) Normalized() *Comparison {
	n := *c
	n.Changes.Objects = notNil(n.Changes.Objects)
	n.Indeterminate, n.Diagnostics = notNil(n.Indeterminate), notNil(n.Diagnostics)
	return &n
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
