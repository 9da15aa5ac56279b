package scanner

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/target"
)

// noteMove tells where it is not known which object became which.
func (s *scan) noteMove(m *target.Move) {
	s.diagnose(report.Diagnostic{Severity: "note", Message: fmt.Sprintf(
		"%s is gone from %s and new in %s: which of them became which is not known, so what differs is judged each way",
		m.Key, rootsOf(m.From), rootsOf(m.To))})
}

func rootsOf(list []target.Holding) string {
	roots := make([]string, len(list))
	for i, h := range list {
		roots[i] = h.Root.String()
	}
	return strings.Join(roots, ", ")
}
