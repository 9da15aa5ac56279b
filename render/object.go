package render

import "bytes"

// KindAndName returns the object's kind and its name, or generateName if it has no name.
func (o *Object) KindAndName() (kind, name string) { return KindAndName(o.Content()) }

// Object is one object a root renders to.
type Object struct {
	// JSON is the object in JSON, with sorted keys. It must not be modified.
	JSON []byte
	// Index is the object's index among the objects of its root.
	Index int
	// Unknown are the fields whose values are not known. Their values in JSON must not be judged.
	Unknown []Unknown
	// Role is the role of the object for its deployer.
	Role Role
	// Hook describes when a hook is created and deleted; nil for other objects.
	Hook *Hook
}

// NewObject returns an object. text is its JSON with sorted keys, index its index among the objects of its root. If
// SOPS encrypted it, the encrypted values are unknown, and the metadata of SOPS is removed, which does not reach a
// cluster unless an operator decrypts the object there.
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
