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

// Suite is the content of a directory.
type Suite struct {
	// Dir is the directory as given to Open; empty for Load.
	Dir      string
	Context  []*admission.Object
	Policies []*admission.Object
	Requests []Request
	// Expected is nil when the suite has no expected.yaml.
	Expected *Expected
	// Compiler compiles the policies; nil for one of the suite's own.
	Compiler *policy.Compiler

	// places are those of the objects of the state.
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

// Expected is the content of expected.yaml, and the answers of a run.
type Expected struct {
	// RecordedFrom says where the answers come from. If it is set, the file is a record:
	// a field that is not written is expected to be empty. If it is not set, a field that
	// is not written is not compared; policyErrors are always compared.
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

// Verdict is the server's answer to the request of the same name.
type Verdict struct {
	Name             string            `json:"name"`
	Allowed          bool              `json:"allowed"`
	Code             int32             `json:"code,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Message          string            `json:"message,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Indeterminate says why the request, or a policy for it, cannot be judged without a
	// cluster. The other fields then have what is known.
	Indeterminate []string `json:"indeterminate,omitempty"`
	// Object is the object after all mutation, where the suite has policies that change objects.
	// Where it is expected, it is compared even if the file is no record; a record need not have it.
	Object map[string]any `json:"object,omitempty"`

	// denials are the refusals that the server may answer with. auditFailures are the
	// values that the annotation of failed validations may have.
	denials       []refusal
	auditFailures []string
	// stated and line are those of an entry of expected.yaml.
	stated stated
	line   int
	// review is how a run came to the verdict; nil when no policy was evaluated.
	review *server.Verdict
}

// refusal is an answer of a server that refuses a request.
type refusal struct {
	code            int32
	reason, message string
}

// stated are the fields that an entry of expected.yaml has. Nil stands for all fields.
type stated map[string]bool

func (s stated) has(field string) bool { return s == nil || s[field] }

// Admin returns the user of a request that names none, who also creates the policies.
func Admin() user.Info { return (*User)(nil).info() }

func (u *User) info() user.Info {
	if u == nil {
		u = &User{Username: "system:admin", Groups: []string{user.SystemPrivilegedGroup}}
	}
	return &user.DefaultInfo{Name: u.Username, Groups: impersonate.Groups(u.Username, u.Groups)}
}
