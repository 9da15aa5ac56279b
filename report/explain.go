package report

// ExplainKind is the kind of the wire format; its apiVersion is APIVersion and its schema
// docs/explain.schema.json.
const ExplainKind = "ExplainReport"

// ExplainReport is how an API server comes to its answer to one request: which policies apply and
// why, and the value of each of their expressions, and of each part of these. Values of Secrets are
// replaced by "(masked)".
type ExplainReport struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Tool       Tool             `json:"tool"`
	Request    ExplainedRequest `json:"request"`
	Answer     ExplainedAnswer  `json:"answer"`
	// Refused are the policies and bindings that the server would not create.
	Refused []PolicyError `json:"refused,omitempty"`
	// Policies are the policies with each of their bindings and params, those that change objects
	// first.
	Policies []ExplainedPolicy `json:"policies"`
	// Changes are the lines in which policies change the object, as a unified diff.
	Changes []string `json:"changes,omitempty"`
}

// ExplainedRequest is the request.
type ExplainedRequest struct {
	// Case is the name of the request in its suite.
	Case        string   `json:"case,omitempty"`
	Operation   string   `json:"operation"`
	APIVersion  string   `json:"apiVersion"`
	Kind        string   `json:"kind"`
	Subresource string   `json:"subresource,omitempty"`
	Namespace   string   `json:"namespace,omitempty"`
	Name        string   `json:"name,omitempty"`
	User        string   `json:"user,omitempty"`
	Groups      []string `json:"groups,omitempty"`
}

// ExplainedAnswer is what the server answers.
type ExplainedAnswer struct {
	Allowed          bool              `json:"allowed"`
	Code             int               `json:"code,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Message          string            `json:"message,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Indeterminate says why the answer, or a part of it, is not known.
	Indeterminate []string `json:"indeterminate,omitempty"`
}

// ExplainedPolicy is a policy with one binding and one param.
type ExplainedPolicy struct {
	// Kind is ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
	Kind          string   `json:"kind"`
	Name          string   `json:"name"`
	Binding       string   `json:"binding,omitempty"`
	Param         string   `json:"param,omitempty"`
	FailurePolicy string   `json:"failurePolicy"`
	Actions       []string `json:"actions,omitempty"`
	// Applies is yes, no or unknown.
	Applies string `json:"applies"`
	// Matching is what decides whether the policy applies, in the order in which the server looks.
	Matching []ExplainedMatch `json:"matching"`
	// Expressions are those of the policy: match conditions, variables, validations, messages, audit
	// annotations, mutations.
	Expressions []ExplainedExpression `json:"expressions,omitempty"`
	// Costs are the budgets that groups of expressions share, and what they took of them.
	Costs []ExplainedCost `json:"costs,omitempty"`
	// TypeWarnings are those that the server writes into the status of the policy.
	TypeWarnings []ExplainedTypeWarning `json:"typeWarnings,omitempty"`
	// Changes are the lines in which this policy changes the object, as a unified diff.
	Changes []string `json:"changes,omitempty"`
	// Notes say what of this is not certain or left out.
	Notes []string `json:"notes,omitempty"`
}

// ExplainedMatch is a field that decides whether a policy applies.
type ExplainedMatch struct {
	// Field is that of the policy or the binding; Of says whose: policy or binding.
	Field string `json:"field"`
	Of    string `json:"of"`
	// Result is yes, no, unknown or error.
	Result string `json:"result"`
	// Why says what in the field and the request decides.
	Why string `json:"why,omitempty"`
	// Decides is set for the field because of which the policy does not apply.
	Decides bool `json:"decides,omitempty"`
}

// ExplainedCost is a budget of the server.
type ExplainedCost struct {
	// Group is what shares the budget.
	Group  string `json:"group"`
	Cost   int    `json:"cost"`
	Budget int    `json:"budget"`
	// Exhausted is set when the budget does not suffice.
	Exhausted bool `json:"exhausted,omitempty"`
}

// ExplainedTypeWarning is a warning of the server's type checks.
type ExplainedTypeWarning struct {
	Field   string `json:"field"`
	Warning string `json:"warning"`
	// Line and Column are those of the expression; 0 when the warning names none.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// ExplainedState says what became of an expression or a part of one.
type ExplainedState string

const (
	// StateValue: it gave a value.
	StateValue ExplainedState = "value"
	// StateError: it failed.
	StateError ExplainedState = "error"
	// StateUnknown: it depends on values that are not known.
	StateUnknown ExplainedState = "unknown"
	// StateSkipped: it was not evaluated.
	StateSkipped ExplainedState = "skipped"
)

// ExplainedStates lists the states.
func ExplainedStates() []ExplainedState {
	return []ExplainedState{StateValue, StateError, StateUnknown, StateSkipped}
}

// ExplainedExpression is an expression of a policy and what it gave.
type ExplainedExpression struct {
	// Field is that of the policy, as spec.validations[0].expression.
	Field string `json:"field"`
	// Name is that of the variable, match condition or audit annotation.
	Name  string         `json:"name,omitempty"`
	Text  string         `json:"text"`
	State ExplainedState `json:"state"`
	// Value is what it gave, as CEL writes it, cut when it is long.
	Value string `json:"value,omitempty"`
	// Why is the error, what is not known, or why it was not evaluated.
	Why string `json:"why,omitempty"`
	// Cost is what the server charges, without variables.
	Cost  int             `json:"cost"`
	Parts []ExplainedPart `json:"parts,omitempty"`
}

// ExplainedPart is a part of an expression. Literals are left out.
type ExplainedPart struct {
	Text string `json:"text"`
	// Line and Column are those of the part's operator or name in the expression.
	Line   int            `json:"line"`
	Column int            `json:"column"`
	State  ExplainedState `json:"state"`
	Value  string         `json:"value,omitempty"`
	Why    string         `json:"why,omitempty"`
	// Parts are its own parts.
	Parts []ExplainedPart `json:"parts,omitempty"`
	// Rounds are those of a loop: with an element each.
	Rounds []ExplainedRound `json:"rounds,omitempty"`
	// MoreRounds counts those that are left out.
	MoreRounds int `json:"moreRounds,omitempty"`
	// MoreParts is true when parts are left out.
	MoreParts bool `json:"moreParts,omitempty"`
}

// ExplainedRound is a round of a loop.
type ExplainedRound struct {
	// Index counts from 0.
	Index int `json:"index"`
	// Bound are the variables of the loop.
	Bound []ExplainedBound `json:"bound"`
	Parts []ExplainedPart  `json:"parts"`
}

// ExplainedBound is a variable of a loop in one of its rounds.
type ExplainedBound struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
