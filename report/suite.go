package report

// SuiteKind is the kind of the JSON that preadmit test writes; its apiVersion is
// APIVersion and its schema docs/suite.schema.json.
const SuiteKind = "TestReport"

// SuiteReport is the report of preadmit test: every output is a pure function of it.
type SuiteReport struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Suites     []*SuiteResult `json:"suites"`
	Summary    SuiteSummary   `json:"summary"`
}

// SuiteSummary counts requests.
type SuiteSummary struct {
	Suites   int `json:"suites"`
	Requests int `json:"requests"`
	// Failed are requests whose answer is not as expected.
	Failed int `json:"failed"`
	// FailedPolicies are suites whose policyErrors are not as expected.
	FailedPolicies int `json:"failedPolicies"`
	// NotCompared are requests without an entry in expected.yaml.
	NotCompared int `json:"notCompared"`
	// Indeterminate are requests that cannot be judged, or not by all policies.
	Indeterminate int `json:"indeterminate"`
}

// SuiteResult has the answers to the requests of one suite, and their differences from
// the expected ones.
type SuiteResult struct {
	// Dir is the suite's directory.
	Dir string `json:"dir"`
	// Recorded is recordedFrom of expected.yaml, the source of the expected answers.
	Recorded string `json:"recorded,omitempty"`
	// PolicyErrors are the policies and bindings the server would refuse.
	PolicyErrors []PolicyError `json:"policyErrors"`
	// Verdicts are the answers to the requests that ran, in the order of
	// requests.yaml.
	Verdicts []SuiteVerdict `json:"verdicts"`
	Failures []SuiteFailure `json:"failures"`

	// Compared has the names of requests with an entry in expected.yaml.
	Compared map[string]bool `json:"-"`
}

// PolicyError is a policy or binding that the server refuses.
type PolicyError struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

// SuiteVerdict is the server's answer to the request of the same name.
type SuiteVerdict struct {
	Name             string            `json:"name"`
	Allowed          bool              `json:"allowed"`
	Code             int32             `json:"code,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Message          string            `json:"message,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Indeterminate has the reasons why the request, or a policy for it, cannot be judged
	// without a cluster. The other fields then have what is known.
	Indeterminate []string `json:"indeterminate,omitempty"`
	// Object is the object as validating admission sees it, if the suite has mutating policies.
	// Values of a Secret are not masked: they come from the suite itself.
	Object map[string]any `json:"object,omitempty"`
}

// SuiteFailure is a request whose answer is not as expected.
type SuiteFailure struct {
	// Request is its name; empty for differences in policyErrors.
	Request string `json:"request,omitempty"`
	// Line of the entry in expected.yaml, 0 when there is none.
	Line int `json:"line,omitempty"`
	// RequestLine is the line of the entry in requests.yaml.
	RequestLine int          `json:"requestLine,omitempty"`
	Differences []Difference `json:"differences"`
	// Evaluations is the number of validations evaluated for the request.
	Evaluations int `json:"evaluations"`
	// Explanations are the decisions that led to the answer.
	Explanations []Explanation `json:"explanations,omitempty"`
}

// Difference is a field that is not as expected. A value is nil if the field is absent
// on that side.
type Difference struct {
	// Field is allowed, message, warnings, auditAnnotations['key'] and so on; for
	// policyErrors it names the entry: policyErrors[ValidatingAdmissionPolicy/name].
	Field    string `json:"field"`
	Expected any    `json:"expected,omitempty"`
	Actual   any    `json:"actual,omitempty"`
}

// Explanation is a decision against a request, with the values that led to it.
type Explanation struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding,omitempty"`
	// Param is namespace/name of the param, or its name.
	Param string `json:"param,omitempty"`
	// Validation is the index in spec.validations. It is -1 if no validation failed.
	Validation int `json:"validation"`
	// Cause is validation, error or configuration.
	Cause   string   `json:"cause"`
	Actions []string `json:"actions"`
	// Message is the server's message after "denied request: ".
	Message    string `json:"message"`
	Expression string `json:"expression,omitempty"`
	// Values are the values that the expression read, at most 20. MoreValues is set if
	// there are more.
	Values     []Value `json:"values,omitempty"`
	MoreValues bool    `json:"moreValues,omitempty"`
}

// Value is a value that an expression read.
type Value struct {
	// Path is like object.spec.containers[0].image.
	Path string `json:"path"`
	// Value is JSON text, cut after 200 bytes. Values of a Secret are masked. It is empty
	// if the field is missing.
	Value string `json:"value,omitempty"`
	// Missing is set if the field does not exist.
	Missing bool `json:"missing,omitempty"`
}

// NewSuiteReport returns the report for the results.
func NewSuiteReport(results []*SuiteResult) *SuiteReport {
	r := &SuiteReport{APIVersion: APIVersion, Kind: SuiteKind, Suites: results}
	r.Summary.Suites = len(results)
	for _, s := range results {
		r.Summary.add(s)
	}
	return r
}

func (t *SuiteSummary) add(s *SuiteResult) {
	t.Requests += len(s.Verdicts)
	t.Failed += len(s.Failures)
	if s.Failure("") != nil {
		t.Failed--
		t.FailedPolicies++
	}
	for i := range s.Verdicts {
		if !s.Compared[s.Verdicts[i].Name] {
			t.NotCompared++
		}
		if len(s.Verdicts[i].Indeterminate) > 0 {
			t.Indeterminate++
		}
	}
}

// Failure returns the failure of a request, nil if there is none.
func (s *SuiteResult) Failure(request string) *SuiteFailure {
	for i := range s.Failures {
		if s.Failures[i].Request == request {
			return &s.Failures[i]
		}
	}
	return nil
}

// Agreed reports whether everything that was compared is as expected.
func (r *SuiteReport) Agreed() bool { return r.Summary.Failed+r.Summary.FailedPolicies == 0 }
