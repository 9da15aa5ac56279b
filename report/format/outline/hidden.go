package outline

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// Hidden returns a text on what is not shown of a report: findings that the base has too,
// and what the change does not touch. It returns "" if everything is shown.
func Hidden(r *report.Report, existing, verbose bool) string {
	var parts []string
	if n := CountsOf(r, existing).Existing; n > 0 {
		parts = append(parts, fmt.Sprintf("%d existing", n))
	}
	if !existing && !verbose {
		parts = append(parts, Untouched(r))
	}
	return Join(", ", parts...)
}

// Untouched returns the numbers of indeterminates and remarks on what the change does not
// touch, "" if there are none.
func Untouched(r *report.Report) string {
	var parts []string
	if n := CountsOf(r, false).Untouched; n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, NotJudged))
	}
	remarks := 0
	for _, d := range Remarks(r.Diagnostics) {
		if d.Untouched {
			remarks++
		}
	}
	if remarks > 0 {
		parts = append(parts, Count(remarks, "remark"))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + " outside of the change"
}
