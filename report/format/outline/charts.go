package outline

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Chart describes the changes by a new version of a chart.
type Chart struct {
	*report.ChartChange
	// Title names the chart, its versions and what installs it.
	Title string
	// Changes are the numbers of objects, with the first names.
	Changes string
}

// ChartUnread is the text for a chart whose new version changes nothing that policies read.
const ChartUnread = "nothing that policies read changed"

// Charts returns the new versions of charts of a report.
func Charts(r *report.Report) (all []Chart) {
	for i := range r.Charts {
		c := &r.Charts[i]
		all = append(all, Chart{c, escape.Line(fmt.Sprintf("%s %s -> %s, %s", c.Chart, c.From, c.To, c.Root)), chartChanges(c)})
	}
	return all
}

// chartChanges returns the numbers of added, changed and removed objects, each with the
// first names.
func chartChanges(c *report.ChartChange) string {
	const most = 3
	var parts []string
	for _, sort := range []struct {
		change string
		n      int
	}{{report.ObjectAdded, c.Added}, {report.ObjectChanged, c.Changed}, {report.ObjectRemoved, c.Removed}} {
		if sort.n == 0 {
			continue
		}
		var names []string
		for _, o := range c.Objects {
			if o.Change == sort.change && len(names) < most {
				names = append(names, escape.Line(ObjectName(&o.Object)))
			}
		}
		if more := sort.n - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		parts = append(parts, fmt.Sprintf("%s %s: %s", Count(sort.n, "object"), sort.change, strings.Join(names, ", ")))
	}
	if len(parts) == 0 {
		return "renders the same objects"
	}
	return strings.Join(parts, "; ")
}
