package report

// LintKind is the kind of the wire format; its apiVersion is APIVersion and its
// schema docs/lint.schema.json.
const LintKind = "LintReport"

// LintReport is the result of linting a tree: every output is a pure function of it.
// Findings are in a total order (path, line, column, then content), so that equal trees
// give equal bytes.
type LintReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Tool       Tool   `json:"tool"`
	// Tree names the tree that was linted.
	Tree     Revision      `json:"tree"`
	Findings []LintFinding `json:"findings"`
	// Indeterminate lists what could not be linted: roots that do not render, and checks
	// for which the tree does not have the information.
	Indeterminate []Indeterminate `json:"indeterminate"`
	Diagnostics   []Diagnostic    `json:"diagnostics"`
	Summary       LintSummary     `json:"summary"`
}

// Severity is the severity of a finding.
type Severity string

// The severities, the worst first.
const (
	// SeverityError: the API server refuses the object, or it cannot work.
	SeverityError Severity = "error"
	// SeverityWarning: as far as is known, the object does not work as it seems to.
	SeverityWarning Severity = "warning"
	// SeverityNote: a remark.
	SeverityNote Severity = "note"
)

// Severities lists the severities, the worst first.
func Severities() []Severity { return []Severity{SeverityError, SeverityWarning, SeverityNote} }

// LintFinding is one remark about a policy or a binding.
type LintFinding struct {
	// Fingerprint identifies the finding across line moves.
	Fingerprint string   `json:"fingerprint"`
	Rule        string   `json:"rule"`
	Severity    Severity `json:"severity"`
	// Message describes the problem, with the API server's message if it has one.
	Message string `json:"message"`
	// Hint describes what to do about it.
	Hint string `json:"hint,omitempty"`
	// Object is the policy or binding; absent when a root does not render.
	Object *Object `json:"object,omitempty"`
	// Target is the cluster, when targets are configured.
	Target   string   `json:"target,omitempty"`
	Root     string   `json:"root"`
	Location Location `json:"location"`
}

// LintSummary has the counts of a LintReport.
type LintSummary struct {
	// Policies and Bindings count those that were linted.
	Policies int `json:"policies"`
	Bindings int `json:"bindings"`
	// Findings counts by severity.
	Findings map[Severity]int `json:"findings"`
	Roots    RootCounts       `json:"roots"`
	// Disabled are the rules that were switched off.
	Disabled []string `json:"disabled"`
}

// LintFailOnValues returns the values of --fail-on for lint: the weakest severity that fails
// a run. With indeterminate, any finding and anything that could not be linted fails it.
func LintFailOnValues() []string {
	return []string{"error", "warning", "note", "indeterminate", "never"}
}

// Failed reports whether the report fails a run. failOn is one of LintFailOnValues.
func (r *LintReport) Failed(failOn string) bool {
	switch failOn {
	case "never":
		return false
	case "indeterminate":
		return len(r.Findings)+len(r.Indeterminate) > 0
	}
	for _, s := range Severities() {
		if r.Summary.Findings[s] > 0 {
			return true
		}
		if string(s) == failOn {
			break
		}
	}
	return false
}
