package gaps

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/target"
)

// Move notes a move of which it is not known which object became which.
func (l *Ledger) Move(m *target.Move) {
	l.Note(report.Diagnostic{Severity: "note", Message: fmt.Sprintf(
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
