package render

// KindAndName are the object's kind and name; for an object whose name the API
// server makes up, what it makes it from.
func (o *Object) KindAndName() (kind, name string) { return KindAndName(o.Content()) }

// Object is one object a root renders to.
type Object struct {
	// JSON is the object in JSON, with sorted keys. It must not be modified.
	JSON []byte
	// Index is the object's place among the objects of its root.
	Index int
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
