package queue

import (
	"fmt"
	"strings"
)

// CountsText returns what a scan found in the words of reports, like "2 denied, 1 warning";
// it is empty when it found nothing.
func (s *Scan) CountsText() string {
	warnings := "warnings"
	if s.Warned == 1 {
		warnings = "warning"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Denied, "denied"}, {s.Warned, warnings}, {s.Indeterminate, "not judged"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, ", ")
}
