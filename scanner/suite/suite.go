package suite

import (
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/impersonate"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// The files of a suite.
const (
	RequestsFile = "requests.yaml"
	PoliciesFile = "policies.yaml"
	ContextFile  = "context.yaml"
	ExpectedFile = "expected.yaml"
)

// Suite is the content of a suite's directory.
type Suite struct {
	// Dir is the directory as given to Open; empty for Load.
	Dir      string
	Context  []*admission.Object
	Policies []*admission.Object
	Requests []Request
	// Expected is nil if the suite has no expected.yaml.
	Expected *Expected
	// Compiler compiles the policies; nil for the suite's own.
	Compiler *policy.Compiler

	// places are the places of the objects of the state.
	places map[*admission.Object]place
}

// Request is an entry of requests.yaml.
type Request struct {
	Name        string         `json:"name"`
	Operation   string         `json:"operation"`
	Subresource string         `json:"subresource,omitempty"`
	User        *User          `json:"user,omitempty"`
	Object      map[string]any `json:"object,omitempty"`
	OldObject   map[string]any `json:"oldObject,omitempty"`

	// line is the line of the entry in requests.yaml.
	line int
}

// User is the user who makes a request.
type User struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups,omitempty"`
}

// Expected is the content of expected.yaml, and the verdicts of a run.
type Expected struct {
	// RecordedFrom is the source of recorded verdicts. If it is set, the file is a record: absent
	// fields are expected to be empty. If it is not set, absent fields are not compared, except for
	// policyErrors.
	RecordedFrom string        `json:"recordedFrom,omitempty"`
	PolicyErrors []PolicyError `json:"policyErrors,omitempty"`
	Verdicts     []Verdict     `json:"verdicts"`
}

// PolicyError is a policy or binding that the server refused.
type PolicyError struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Message string `json:"message"`

	stated stated
}

// Verdict is the server's response to the request of the same name.
type Verdict struct {
	Name             string            `json:"name"`
	Allowed          bool              `json:"allowed"`
	Code             int32             `json:"code,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Message          string            `json:"message,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Indeterminate has the reasons why the request, or a policy for it, cannot be judged without a
	// cluster. The other fields have what is known.
	Indeterminate []string `json:"indeterminate,omitempty"`
	// Object is the object after all mutation, if the suite has mutating policies. It is only
	// compared if it is expected, also in a record.
	Object map[string]any `json:"object,omitempty"`

	// denials are the refusals that the server may respond with. auditFailures are the possible
	// values of the annotation of failed validations.
	denials       []refusal
	auditFailures []string
	// stated and line are set for entries of expected.yaml.
	stated stated
	line   int
	// review is the server's verdict; nil if no policy was evaluated.
	review *server.Verdict
}

// refusal is a response of a server that refuses a request.
type refusal struct {
	code            int32
	reason, message string
}

// stated has the fields that an entry of expected.yaml has. Nil means all fields.
type stated map[string]bool

func (s stated) has(field string) bool { return s == nil || s[field] }

// Admin returns the default user of requests, who also creates the policies.
func Admin() user.Info { return (*User)(nil).info() }

func (u *User) info() user.Info {
	if u == nil {
		u = &User{Username: "system:admin", Groups: []string{user.SystemPrivilegedGroup}}
	}
	return &user.DefaultInfo{Name: u.Username, Groups: impersonate.Groups(u.Username, u.Groups)}
}
