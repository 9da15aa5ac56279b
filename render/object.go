package render

import "bytes"

// KindAndName are the object's kind and name; for an object whose name the API
// server makes up, what it makes it from.
func (o *Object) KindAndName() (kind, name string) { return KindAndName(o.Content()) }

// Object is one object a root renders to.
type Object struct {
	// JSON is the object in JSON, with sorted keys. It must not be modified.
	JSON []byte
	// Index is the object's place among the objects of its root.
	Index int
	// Unknown are the fields whose values are not known. What is in JSON in their place
	// is not to be judged.
	Unknown []Unknown
	// Role is what the object is to what applies it.
	Role Role
	// Hook says when a hook is created and deleted; nil for others.
	Hook *Hook
}

// NewObject returns the object with a JSON text, which has sorted keys, in a place among
// the objects of its root. Of an object that SOPS encrypted, the encrypted values are
// unknown, and what SOPS wrote about them is taken away: it does not reach a cluster, unless an operator decrypts
// the object there.
func NewObject(text []byte, index int) *Object {
	o := &Object{JSON: text, Index: index}
	if bytes.Contains(text, []byte(`"sops":{`)) && o.Content()["kind"] != operatorKind {
		o.removeSOPS()
	}
	if bytes.Contains(text, []byte(`"`+OmittedAnnotation+`"`)) {
		o.markOmitted()
	}
	return o
}

func KindAndName(m map[string]any) (kind, name string) {
	kind, _ = m["kind"].(string)
	metadata, _ := m["metadata"].(map[string]any)
	name, _ = metadata["name"].(string)
	if name == "" {
		name, _ = metadata["generateName"].(string)
	}
	return kind, name
}
