package report

import "slices"

// Request is an admission request that was judged, with the response.
type Request struct {
	Operation string `json:"operation"`
	// Subject is the object of the repository that caused the request.
	Subject *Object `json:"subject,omitempty"`
	// Generated is the object of the request if a controller creates it for Subject.
	Generated *Object `json:"generated,omitempty"`
	Root      string  `json:"root"`
	// Target is the name of the target whose API server gets the request; empty if it has none.
	Target string `json:"target,omitempty"`
	// Kubernetes is the version of that API server, like v1.34.0; empty if targets do not have several.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Allowed is absent when it is not known.
	Allowed *bool `json:"allowed,omitempty"`
	// Code, Reason and Message are those of a refusal. These and all following fields
	// except Unknown are only set if full requests were requested.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Warnings are the texts of the Warning headers, in order.
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Unknown has the reasons why it is not known whether the request is allowed.
	Unknown []string `json:"unknown,omitempty"`
	// Object and OldObject are the objects as policies see them; absent when the request is
	// refused before. Values of Secrets are not masked.
	Object    map[string]any `json:"object,omitempty"`
	OldObject map[string]any `json:"oldObject,omitempty"`
}

// HasObjects reports whether the requests of the report have objects, Secrets with their values
// among them.
func (r *Report) HasObjects() bool {
	return slices.ContainsFunc(r.Requests, func(q Request) bool { return q.Object != nil || q.OldObject != nil })
}
