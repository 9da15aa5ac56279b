// Package suite runs suites of admission requests: a directory with policies, the
// state of a cluster, requests, and what an API server answers to them - recorded
// from one, or written by the author of a policy.
//
// A suite is a directory with
//
//   - requests.yaml: the requests to judge, and paths of policies elsewhere;
//   - policies.yaml (optional): ValidatingAdmissionPolicies and bindings, created in
//     order;
//   - context.yaml (optional): Namespaces, CustomResourceDefinitions, params and
//     RBAC objects that exist before the policies;
//   - expected.yaml (optional): the answers.
//
// Files are read strictly; mistakes are *strictyaml.Error, with line and column. A run gives
// a Result: every answer in full, and the differences from what is expected with
// the expressions that made them and the values these read.
package suite

import (
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/server"
)

// Names of the files of a suite.
const (
	RequestsFile = "requests.yaml"
	PoliciesFile = "policies.yaml"
	ContextFile  = "context.yaml"
	ExpectedFile = "expected.yaml"
)

// Suite is a suite as read from its directory.
type Suite struct {
	// Dir is the directory as given to Open; empty for Load.
	Dir      string
	Context  []*admission.Object
	Policies []*admission.Object
	Requests []Request
	// Expected is nil when the suite has no expected.yaml.
	Expected *Expected
}

// Request is an entry of requests.yaml.
type Request struct {
	Name        string         `json:"name"`
	Operation   string         `json:"operation"`
	Subresource string         `json:"subresource,omitempty"`
	User        *User          `json:"user,omitempty"`
	Object      map[string]any `json:"object,omitempty"`
	OldObject   map[string]any `json:"oldObject,omitempty"`

	line int // in requests.yaml
}

// User makes a request.
type User struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups,omitempty"`
}

// Expected is expected.yaml, and the shape of what a run gives.
type Expected struct {
	// RecordedFrom says who gave the answers. With it the file is a record: what it
	// does not state is empty. Without, what it does not state is not compared, but
	// for policyErrors.
	RecordedFrom string        `json:"recordedFrom,omitempty"`
	PolicyErrors []PolicyError `json:"policyErrors,omitempty"`
	Verdicts     []Verdict     `json:"verdicts"`
}

// PolicyError is a policy or binding the server refused.
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
	// Indeterminate says why the request, or a policy for it, cannot be judged
	// without a cluster. Then the other fields say what is known.
	Indeterminate []string `json:"indeterminate,omitempty"`

	// denials are refusals that the server may answer with, auditFailures what it may
	// say in the annotation of failed validations.
	denials       []refusal
	auditFailures []string
	// stated and line are those of an entry of expected.yaml.
	stated stated
	line   int
	// review is how a run came to the verdict; nil when no policy was evaluated.
	review *server.Verdict
}

// refusal is a server's answer when it refuses.
type refusal struct {
	code            int32
	reason, message string
}

// stated are the fields an entry of expected.yaml has; nil stands for all.
type stated map[string]bool

func (s stated) has(field string) bool { return s == nil || s[field] }

// Admin is who asks when a request does not say, and who creates the policies.
func Admin() user.Info { return (*User)(nil).info() }

func (u *User) info() user.Info {
	if u == nil {
		u = &User{Username: "system:admin", Groups: []string{user.SystemPrivilegedGroup}}
	}
	return &user.DefaultInfo{Name: u.Username, Groups: admission.GroupsOf(u.Username, u.Groups)}
}
