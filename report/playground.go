package report

// PlaygroundRequest is what someone tries on the playground: a request, and the state of the
// cluster that judges it, each as YAML.
type PlaygroundRequest struct {
	// Policies are policies and bindings, of both kinds.
	Policies  string `json:"policies"`
	Object    string `json:"object,omitempty"`
	OldObject string `json:"oldObject,omitempty"`
	Params    string `json:"params,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// RBAC are roles and bindings, for what policies ask the authorizer.
	RBAC string `json:"rbac,omitempty"`
	// Operation is CREATE, UPDATE or DELETE; Subresource is that of the URL.
	Operation   string `json:"operation,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	User        string `json:"user,omitempty"`
	// Groups are separated by commas or spaces.
	Groups string `json:"groups,omitempty"`
	// Version is a minor version of Kubernetes, as 1.34; empty for the latest.
	Version string `json:"version,omitempty"`
	// Suite asks for the suite in place of the explanation.
	Suite bool `json:"suite,omitempty"`
}

// PlaygroundProblem is a mistake in a field of a request, or what there does not count.
type PlaygroundProblem struct {
	// Field is the name of the field in JSON.
	Field   string `json:"field"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// PlaygroundAnswer is what the playground says.
type PlaygroundAnswer struct {
	// Problems are mistakes in the request; if there are any, nothing else is known.
	Problems []PlaygroundProblem `json:"problems,omitempty"`
	// Notes name what of the fields does not count in the answer.
	Notes   []PlaygroundProblem `json:"notes,omitempty"`
	Explain *ExplainReport      `json:"explain,omitempty"`
	// Files are those of the suite, by name.
	Files map[string]string `json:"files,omitempty"`
}
