package report

// PlaygroundRequest is the input of the playground: an admission request and the state of
// the cluster that judges it, as YAML.
type PlaygroundRequest struct {
	// Policies are policies and bindings, of both kinds.
	Policies  string `json:"policies"`
	Object    string `json:"object,omitempty"`
	OldObject string `json:"oldObject,omitempty"`
	Params    string `json:"params,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// RBAC are roles and bindings, for policies that use the authorizer.
	RBAC string `json:"rbac,omitempty"`
	// Operation is CREATE, UPDATE or DELETE; Subresource is the one in the URL, if any.
	Operation   string `json:"operation,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	User        string `json:"user,omitempty"`
	// Groups are separated by commas or spaces.
	Groups string `json:"groups,omitempty"`
	// Version is a minor version of Kubernetes, like 1.34; empty for the latest.
	Version string `json:"version,omitempty"`
	// Suite requests the suite instead of the explanation.
	Suite bool `json:"suite,omitempty"`
}

// PlaygroundProblem is a mistake in a field of a request, or a part of it that is ignored.
type PlaygroundProblem struct {
	// Field is the JSON name of the field.
	Field   string `json:"field"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// PlaygroundAnswer is the output of the playground.
type PlaygroundAnswer struct {
	// Problems are mistakes in the request; if there are any, all other fields are empty.
	Problems []PlaygroundProblem `json:"problems,omitempty"`
	// Notes list the parts of the request that the answer ignores.
	Notes   []PlaygroundProblem `json:"notes,omitempty"`
	Explain *ExplainReport      `json:"explain,omitempty"`
	// Files are the files of the suite, by name.
	Files map[string]string `json:"files,omitempty"`
}
