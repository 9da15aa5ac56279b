package report

// LintKind is the kind of the wire format; its apiVersion is APIVersion and its
// schema docs/lint.schema.json.
const LintKind = "LintReport"

// LintReport is the result of linting a tree: every output is a pure function of it.
// Findings are in a total order - path, line, column, then what they say - so that
// equal trees give equal bytes.
type LintReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Tool       Tool   `json:"tool"`
	// Tree names what was looked at.
	Tree     Revision      `json:"tree"`
	Findings []LintFinding `json:"findings"`
	// Indeterminate is what could not be looked at: roots that cannot be rendered,
	// questions that nothing in the tree answers.
	Indeterminate []Indeterminate `json:"indeterminate"`
	Diagnostics   []Diagnostic    `json:"diagnostics"`
	Summary       LintSummary     `json:"summary"`
}

// Severity says how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	// SeverityError: the API server refuses it, or it cannot work.
	SeverityError Severity = "error"
	// SeverityWarning: it will not do what it seems to, as far as is known here.
	SeverityWarning Severity = "warning"
	// SeverityNote: worth knowing.
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
	// Message says what is wrong, in the API server's words where it has some.
	Message string `json:"message"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
	// Object is the policy or binding; absent when a root does not render.
	Object *Object `json:"object,omitempty"`
	// Target is the cluster, when targets are configured.
	Target   string   `json:"target,omitempty"`
	Root     string   `json:"root"`
	Location Location `json:"location"`
}

// LintSummary counts.
type LintSummary struct {
	// Policies and Bindings are those that were looked at.
	Policies int `json:"policies"`
	Bindings int `json:"bindings"`
	// Findings counts by severity.
	Findings map[Severity]int `json:"findings"`
	Roots    RootCounts       `json:"roots"`
	// Disabled are the rules that were switched off.
	Disabled []string `json:"disabled"`
}

// LintFailOnValues are the words for the weakest severity that fails a run:
// indeterminate asks for no findings and nothing left unjudged.
func LintFailOnValues() []string {
	return []string{"error", "warning", "note", "indeterminate", "never"}
}

// Failed weighs the report. failOn is one of LintFailOnValues.
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
