package report

// Request is an admission request that was judged, and the answer.
type Request struct {
	Operation string `json:"operation"`
	// Subject is the object of the repository that the request is about.
	Subject *Object `json:"subject,omitempty"`
	// Generated is the object that is created where it is one that a controller creates
	// of Subject.
	Generated *Object `json:"generated,omitempty"`
	Root      string  `json:"root"`
	// Allowed is absent when it is not known.
	Allowed *bool `json:"allowed,omitempty"`
	// Code, Reason and Message are those of a refusal. These, and all that follow but
	// Unknown, are there only if requests were asked for whole.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Warnings are the texts of the Warning headers, in order.
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Unknown says why it is not known whether the request is allowed.
	Unknown []string `json:"unknown,omitempty"`
	// Object and OldObject are the objects as policies see them; absent when the request
	// does not come to them. Those of Secrets are whole.
	Object    map[string]any `json:"object,omitempty"`
	OldObject map[string]any `json:"oldObject,omitempty"`
}
