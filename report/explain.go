package report

// ExplainKind is the kind of the wire format; its apiVersion is APIVersion and its schema
// docs/explain.schema.json.
const ExplainKind = "ExplainReport"

// ExplainReport explains the answer of an API server to one request: which policies apply and
// why, and the value of each of their expressions and of each part of these. Values of Secrets are
// replaced by "(masked)".
type ExplainReport struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Tool       Tool             `json:"tool"`
	Request    ExplainedRequest `json:"request"`
	Answer     ExplainedAnswer  `json:"answer"`
	// Refused are the policies and bindings that the server would refuse to create.
	Refused []PolicyError `json:"refused,omitempty"`
	// Policies has an entry for each policy, binding and param, mutating policies first.
	Policies []ExplainedPolicy `json:"policies"`
	// Omitted is the number of policies, bindings and params beyond the first 100, which are not explained.
	Omitted int `json:"omitted,omitempty"`
	// Changes is a unified diff of all changes that policies make to the object.
	Changes []string `json:"changes,omitempty"`
}

// ExplainedRequest identifies the request.
type ExplainedRequest struct {
	// Case is the name of the request in its suite.
	Case        string `json:"case,omitempty"`
	Operation   string `json:"operation"`
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	// GenerateName is metadata.generateName of an object without a name.
	GenerateName string   `json:"generateName,omitempty"`
	User         string   `json:"user,omitempty"`
	Groups       []string `json:"groups,omitempty"`
}

// ExplainedAnswer is the response of the server.
type ExplainedAnswer struct {
	Allowed          bool              `json:"allowed"`
	Code             int               `json:"code,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Message          string            `json:"message,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Indeterminate has the reasons why the answer, or a part of it, is not known.
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
	// Matching are the fields that decide whether the policy applies, in the server's order.
	Matching []ExplainedMatch `json:"matching"`
	// Expressions are the expressions of the policy: match conditions, variables, validations,
	// messages, audit annotations, mutations.
	Expressions []ExplainedExpression `json:"expressions,omitempty"`
	// Costs are the cost budgets that groups of expressions share, with the costs charged to them.
	Costs []ExplainedCost `json:"costs,omitempty"`
	// TypeWarnings are the type-checking warnings that the server writes to the policy's status.
	TypeWarnings []ExplainedTypeWarning `json:"typeWarnings,omitempty"`
	// Changes is a unified diff of the changes that this policy makes to the object.
	Changes []string `json:"changes,omitempty"`
	// Notes lists what is uncertain or left out here.
	Notes []string `json:"notes,omitempty"`
}

// ExplainedMatch is a field that decides whether a policy applies.
type ExplainedMatch struct {
	// Field is the path of the field; Of is the object that has it: policy or binding.
	Field string `json:"field"`
	Of    string `json:"of"`
	// Result is yes, no, unknown or error.
	Result string `json:"result"`
	// Why is the reason for the result, from the field and the request.
	Why string `json:"why,omitempty"`
	// Decides is set for the field that keeps the policy from applying.
	Decides bool `json:"decides,omitempty"`
}

// ExplainedCost is a cost budget of the server.
type ExplainedCost struct {
	// Group names the expressions that share the budget.
	Group  string `json:"group"`
	Cost   int    `json:"cost"`
	Budget int    `json:"budget"`
	// Exhausted is set when the budget is exceeded.
	Exhausted bool `json:"exhausted,omitempty"`
}

// ExplainedTypeWarning is a warning of the server's type checks.
type ExplainedTypeWarning struct {
	Field   string `json:"field"`
	Warning string `json:"warning"`
	// Line and Column are positions in the expression, 0 when the warning has none.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// ExplainedState is the outcome of evaluating an expression or a part of one.
type ExplainedState string

const (
	// StateValue: the result is a value.
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

// ExplainedExpression is an expression of a policy with its result.
type ExplainedExpression struct {
	// Field is its path in the policy, like spec.validations[0].expression.
	Field string `json:"field"`
	// Name is the name of the variable, match condition or audit annotation.
	Name  string         `json:"name,omitempty"`
	Text  string         `json:"text"`
	State ExplainedState `json:"state"`
	// Value is the result in CEL syntax, cut when it is long.
	Value string `json:"value,omitempty"`
	// Why is the error, what is not known, or why it was not evaluated.
	Why string `json:"why,omitempty"`
	// Cost is the cost that the server charges, without that of variables.
	Cost  int             `json:"cost"`
	Parts []ExplainedPart `json:"parts,omitempty"`
}

// ExplainedPart is a part of an expression. Literals are left out.
type ExplainedPart struct {
	Text string `json:"text"`
	// Line and Column are the position of the part's operator or name in the expression.
	Line   int            `json:"line"`
	Column int            `json:"column"`
	State  ExplainedState `json:"state"`
	Value  string         `json:"value,omitempty"`
	Why    string         `json:"why,omitempty"`
	// Parts are the parts of this part.
	Parts []ExplainedPart `json:"parts,omitempty"`
	// Rounds are the iterations of a loop, one per element.
	Rounds []ExplainedRound `json:"rounds,omitempty"`
	// MoreRounds counts the iterations left out.
	MoreRounds int `json:"moreRounds,omitempty"`
	// MoreParts is true when parts are left out.
	MoreParts bool `json:"moreParts,omitempty"`
}

// ExplainedRound is an iteration of a loop.
type ExplainedRound struct {
	// Index counts from 0.
	Index int `json:"index"`
	// Bound are the variables of the loop.
	Bound []ExplainedBound `json:"bound"`
	Parts []ExplainedPart  `json:"parts"`
}

// ExplainedBound is a variable of a loop in one of its iterations.
type ExplainedBound struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
