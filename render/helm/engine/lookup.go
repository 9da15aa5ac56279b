package engine

import "encoding/hex"

// Names of calls of `lookup`, as Chance has them.
const (
	// Lookup is one whose answer is not known.
	Lookup = "lookup"
	// LookupPart is one whose answer has fields that are not known.
	LookupPart = "lookup of a part"
)

// Query is what a chart looks up in the cluster: an object or, without a name, a list.
type Query struct{ APIVersion, Kind, Namespace, Name string }

// Answer is what there is of a query.
type Answer struct {
	// Known is false when the state of the cluster does not tell.
	Known bool
	// Object is what was found; empty for nothing.
	Object map[string]any
	// Partly is set when fields of Object are not known. They have another value in each variant.
	Partly bool
	// Bytes is what it costs to make Object, which is the template's own to change.
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
