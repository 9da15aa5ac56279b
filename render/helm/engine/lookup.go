package engine

import "encoding/hex"

// The values of Chance.Function for calls of `lookup`.
const (
	// Lookup is a call with an unknown answer.
	Lookup = "lookup"
	// LookupPart is a call with unknown fields in its answer.
	LookupPart = "lookup of a part"
)

// Query is an object that a chart looks up in the cluster or, without a name, a list.
type Query struct{ APIVersion, Kind, Namespace, Name string }

// Answer is the answer to a query.
type Answer struct {
	// Known is false when the state of the cluster is unknown.
	Known bool
	// Object is the object or list found; nil if there is none.
	Object map[string]any
	// Partly is set when fields of Object are unknown. They have another value in each variant.
	Partly bool
	// Bytes is the cost of making Object, a copy that the template may change.
	Bytes int
}

// lookup looks an object or a list up in the cluster.
func (c *chance) lookup(apiVersion, kind, namespace, name string) (map[string]any, error) {
	asked := Query{apiVersion, kind, namespace, name}
	if c.run.opts.Lookup != nil {
		answer := c.run.opts.Lookup(asked, c.run.opts.Variant)
		if err := c.run.spend(answer.Bytes); err != nil {
			return nil, err
		}
		if answer.Partly {
			c.note(LookupPart)
		}
		if answer.Known && answer.Object == nil {
			return map[string]any{}, nil
		}
		if answer.Known {
			return answer.Object, nil
		}
	}
	c.note(Lookup)
	c.calls[len(c.calls)-1].Query = asked
	switch {
	case !c.run.opts.Found:
		return map[string]any{}, nil
	case name == "":
		return map[string]any{"apiVersion": apiVersion, "kind": kind + "List", "metadata": map[string]any{}, "items": []any{}}, nil
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace, "uid": hex.EncodeToString([]byte(name))}}, nil
}
