package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
)

// fingerprintLength is the number of hexadecimal digits of a fingerprint.
const fingerprintLength = 32

// identity identifies a finding across scans. It does not include lines, nor messages of
// policies, which may quote values. Findings whose cause is no decision of a policy differ
// only by their message, so they include it.
type identity struct {
	Root      string
	Operation string
	Object    *Object
	// Generated is the kind of the generated object; its name follows from its
	// content.
	Generated  string
	Cause      Cause
	Policy     string
	Binding    string
	Param      *ParamRef
	Validation *int
	Message    string
	// Repeat distinguishes findings that agree in all of the above.
	Repeat int
}

func identityOf(f *Finding) identity {
	id := identity{
		Root: f.Root, Operation: operationClass(f.Operation), Object: f.Object, Cause: f.Cause,
		Policy: f.Policy, Binding: f.Binding, Param: f.Param, Validation: f.Validation,
	}
	switch f.Cause {
	case CauseSchema, CausePolicy, CauseProject, CauseRender:
		id.Message = f.Message
	}
	if f.Generated != nil {
		id.Generated, id.Message = f.Generated.Kind, Unnamed(id.Message, f.Generated)
	}
	return id
}

// operationClass returns the same value for CREATE and UPDATE: the finding on a new
// object is the same when the next commit changes the object again.
func operationClass(operation string) string {
	if operation == "CREATE" || operation == "UPDATE" {
		return "APPLY"
	}
	return operation
}

// SetFingerprints sets the fingerprints of findings, which must be in their final order.
func SetFingerprints(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		id := identityOf(&findings[i])
		sum := id.sum()
		if id.Repeat = seen[sum]; id.Repeat > 0 {
			seen[sum]++
			sum = id.sum()
		} else {
			seen[sum]++
		}
		findings[i].Fingerprint = sum
	}
}

func (id identity) sum() string {
	param := []string{}
	if id.Param != nil {
		param = append(param, id.Param.Namespace, id.Param.Name)
	}
	validation := ""
	if id.Validation != nil {
		validation = strconv.Itoa(*id.Validation)
	}
	object := []string{}
	if o := id.Object; o != nil {
		object = append(object, o.APIVersion, o.Kind, o.Namespace, o.Name, o.GenerateName)
	}
	parts := []any{
		"v1", id.Root, id.Operation, object, id.Cause, id.Policy, id.Binding, param, validation, id.Message, id.Repeat,
	}
	if id.Generated != "" {
		parts = append(parts, id.Generated)
	}
	// Strings cannot fail to marshal.
	data, _ := json.Marshal(parts)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:fingerprintLength]
}

// Unnamed returns a message without the quoted name of a generated object, or without the
// name that the server generates from its generateName. The name of a ReplicaSet may have a hash.
func Unnamed(message string, o *Object) string {
	const (
		longest = 58 // the server cuts generateName to this length before it adds the suffix
		hash    = "[bcdfghjklmnpqrstvwxz2456789]{6,10}"
	)
	name := regexp.QuoteMeta(o.Name)
	if o.Name == "" {
		name = regexp.QuoteMeta(o.GenerateName[:min(longest, len(o.GenerateName))]) + "(?:[a-z0-9]{5}|" + hash + ")"
	}
	return regexp.MustCompile(`"`+name+`"`).ReplaceAllString(message, `""`)
}
