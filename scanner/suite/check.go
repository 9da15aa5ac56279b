package suite

import (
	"fmt"
	"reflect"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// requestsDocument is the content of requests.yaml.
type requestsDocument struct {
	Policies []string  `json:"policies,omitempty"`
	Requests []Request `json:"requests"`
}

// fields are the fields of a file of a suite, for locating mistakes.
type fields struct{ *strictyaml.Document }

// readFields decodes a file of one document.
func readFields(path string, data []byte, into any) (*fields, error) {
	document, err := strictyaml.Parse(path, data)
	if err != nil {
		return nil, err
	}
	if document.Empty() {
		return nil, document.Error("", "the file is empty")
	}
	return &fields{document}, document.DecodeManifest(into)
}

// readRequests decodes and checks requests.yaml.
func readRequests(path string, data []byte) (*fields, *requestsDocument, error) {
	document := &requestsDocument{}
	f, err := readFields(path, data, document)
	if err != nil {
		return nil, nil, err
	}
	if len(document.Requests) == 0 {
		f.Fail("requests", "required: a list of requests")
	}
	names := map[string]int{}
	for i := range document.Requests {
		key := fmt.Sprintf("requests[%d]", i)
		document.Requests[i].line = f.Line(key)
		f.name(key+".name", document.Requests[i].Name, names)
		f.request(key, &document.Requests[i])
	}
	return f, document, f.Err()
}

// name checks that an entry has a unique name.
func (f *fields) name(key, name string, lines map[string]int) {
	switch line, repeated := lines[name]; {
	case name == "":
		f.Fail(key, "required: a name of its own")
	case repeated:
		f.Fail(key, "repeated name %q, first on line %d", name, line)
	default:
		lines[name] = f.Line(key)
	}
}

func (f *fields) request(key string, r *Request) {
	f.operation(key, r)
	if r.User != nil && r.User.Username == "" {
		f.Fail(key+".user.username", "required: the name of the user")
	}
	f.object(key+".object", r.Object)
	f.object(key+".oldObject", r.OldObject)
}

// operation checks that a request has the objects of its operation.
func (f *fields) operation(key string, r *Request) {
	object, old := key+".object", key+".oldObject"
	switch k8sadmission.Operation(r.Operation) {
	case k8sadmission.Create:
		f.required(object, r.Object, "a CREATE needs the object to create")
		f.forbidden(old, r.OldObject, "a CREATE has no oldObject; an UPDATE has")
	case k8sadmission.Update:
		f.required(object, r.Object, "an UPDATE needs the object as it is to be")
		f.required(old, r.OldObject, "an UPDATE needs the object as it was")
	case k8sadmission.Delete:
		f.forbidden(object, r.Object, "a DELETE has no object; what is deleted is its oldObject")
		f.required(old, r.OldObject, "a DELETE needs the object to delete")
	case "":
		f.Fail(key+".operation", "required: CREATE, UPDATE or DELETE")
	default:
		f.Fail(key+".operation", "unknown operation %q, want CREATE, UPDATE or DELETE", r.Operation)
	}
}

// required checks that an object is present.
func (f *fields) required(key string, object map[string]any, why string) {
	if object == nil {
		f.Fail(key, "required: %s", why)
	}
}

// forbidden checks that an object is absent.
func (f *fields) forbidden(key string, object map[string]any, why string) {
	if object != nil {
		f.Fail(key, "%s", why)
	}
}

// object checks that an object has apiVersion and kind.
func (f *fields) object(key string, object map[string]any) {
	if object == nil {
		return
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := object[field].(string); s == "" {
			f.Fail(key+"."+field, "required: a string")
		}
	}
}

// readExpected decodes and checks expected.yaml.
func readExpected(path string, data []byte, requests []Request) (*Expected, error) {
	expected := &Expected{}
	f, err := readFields(path, data, expected)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for i := range requests {
		known[requests[i].Name] = true
	}
	names := map[string]int{}
	for i := range expected.Verdicts {
		v, key := &expected.Verdicts[i], fmt.Sprintf("verdicts[%d]", i)
		v.line, v.stated = f.Line(key), f.stated(key, reflect.TypeFor[Verdict](), expected.RecordedFrom != "")
		f.name(key+".name", v.Name, names)
		if v.Name != "" && !known[v.Name] {
			f.Fail(key+".name", "no request is named %q in %s", v.Name, RequestsFile)
		}
	}
	for i := range expected.PolicyErrors {
		f.policyError(fmt.Sprintf("policyErrors[%d]", i), &expected.PolicyErrors[i], expected.RecordedFrom != "")
	}
	return expected, f.Err()
}

func (f *fields) policyError(key string, e *PolicyError, record bool) {
	e.stated = f.stated(key, reflect.TypeFor[PolicyError](), record)
	if e.Kind == "" {
		f.Fail(key+".kind", "required: ValidatingAdmissionPolicy or ValidatingAdmissionPolicyBinding")
	}
	if e.Name == "" && !f.Has(key+".name") { // '' is the name of an object without a name
		f.Fail(key+".name", "required: the name of the policy or binding")
	}
}

// stated returns the fields of a type that the mapping at key has; nil, which stands for all
// fields, for a record.
func (f *fields) stated(key string, t reflect.Type, record bool) stated {
	if record {
		return nil
	}
	s := stated{}
	for _, name := range strictyaml.FieldNames(t) {
		if f.Has(key + "." + name) {
			s[name] = true
		}
	}
	return s
}
