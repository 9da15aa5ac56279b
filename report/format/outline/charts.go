package outline

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Chart says what a new version of a chart changes.
type Chart struct {
	*report.ChartChange
	// Title names the chart, its versions and what installs it.
	Title string
	// Changes are the numbers of objects, with the first names.
	Changes string
}

// ChartUnread is said of a chart whose new version changes nothing that policies read.
const ChartUnread = "nothing that policies read changed"

// Charts say what new versions of charts change.
func Charts(r *report.Report) (all []Chart) {
	for i := range r.Charts {
		c := &r.Charts[i]
		all = append(all, Chart{c, escape.Line(fmt.Sprintf("%s %s -> %s, %s", c.Chart, c.From, c.To, c.Root)), chartChanges(c)})
	}
	return all
}

// chartChanges counts the objects that change, and names the first of each sort.
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
