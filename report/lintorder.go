package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Sort puts the findings in the report's total order: path, line, column, then content.
func (r *LintReport) Sort() { slices.SortStableFunc(r.Findings, compareLintFindings) }

func compareLintFindings(a, b LintFinding) int {
	return cmp.Or(
		cmp.Compare(a.Location.Path, b.Location.Path),
		cmp.Compare(a.Location.StartLine, b.Location.StartLine),
		cmp.Compare(a.Location.StartColumn, b.Location.StartColumn),
		cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Location.Field, b.Location.Field),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Target, b.Target),
		cmp.Compare(a.Root, b.Root),
	)
}

func severityRank(s Severity) int { return slices.Index(Severities(), s) }

// SetLintFingerprints sets the fingerprints. They do not depend on lines and columns; findings
// that are equal in everything else are numbered.
func SetLintFingerprints(findings []LintFinding) {
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		parts := []any{"lint/v1", f.Rule, f.Object, f.Target, f.Root, f.Location.Path, f.Location.Field, f.Message}
		// Marshalling cannot fail: parts holds only strings and an object of strings.
		data, _ := json.Marshal(parts)
		if n := seen[string(data)]; n > 0 {
			seen[string(data)]++
			data, _ = json.Marshal(append(parts, n))
		} else {
			seen[string(data)] = 1
		}
		sum := sha256.Sum256(data)
		f.Fingerprint = hex.EncodeToString(sum[:16])
	}
}
