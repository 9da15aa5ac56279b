package updates

import (
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// change makes random changes to objects.
type change struct {
	*rand.Rand
	values map[string][]any
}

// kept are the fields that are not changed: those that identify an object, and those that
// would keep it from being deleted.
var kept = []string{"apiVersion", "kind", "name", "namespace", "finalizers", "generateName", "ownerReferences"}

// object changes one place of an object.
func (c *change) object(o map[string]any) {
	top := slices.Sorted(maps.Keys(o))
	top = slices.DeleteFunc(top, func(key string) bool { return key == "apiVersion" || key == "kind" })
	key := top[c.IntN(len(top))]
	if key == "metadata" && c.IntN(3) > 0 { // change other fields more often
		key = top[c.IntN(len(top))]
	}
	if key == "metadata" {
		c.fields(o[key].(map[string]any), kept)
		return
	}
	c.field(o, key)
}

// field changes a field or its content.
func (c *change) field(in map[string]any, key string) {
	switch v := in[key].(type) {
	case map[string]any:
		if len(v) > 0 && c.IntN(6) > 0 {
			c.fields(v, nil)
			return
		}
	case []any:
		if len(v) > 0 && c.IntN(4) > 0 {
			in[key] = c.items(v)
			return
		}
	}
	in[key] = c.value(key, in[key])
	if c.IntN(4) == 0 {
		delete(in, key)
	}
}

// fields changes one of the fields, except those in but.
func (c *change) fields(in map[string]any, but []string) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(in)), func(key string) bool { return slices.Contains(but, key) })
	if len(keys) == 0 || c.IntN(8) == 0 {
		c.add(in, but)
		return
	}
	c.field(in, keys[c.IntN(len(keys))])
}

// add adds a field of some example, which may be unknown here.
func (c *change) add(in map[string]any, but []string) {
	names := slices.Sorted(maps.Keys(c.values))
	name := names[c.IntN(len(names))]
	if in[name] == nil && !slices.Contains(but, name) && !slices.Contains(kept, name) {
		in[name] = c.like(name)
	}
}

// items changes a list.
func (c *change) items(list []any) []any {
	at := c.IntN(len(list))
	switch c.IntN(8) {
	case 0:
		return slices.Delete(slices.Clone(list), at, at+1)
	case 1:
		return append(slices.Clone(list), runtime.DeepCopyJSONValue(list[at]))
	case 2:
		moved := slices.Clone(list)
		slices.Reverse(moved)
		return moved
	case 3:
		item, ok := runtime.DeepCopyJSONValue(list[at]).(map[string]any)
		if !ok {
			return list
		}
		for _, key := range []string{"name", "key", "containerPort", "port", "mountPath"} {
			switch v := item[key].(type) {
			case string:
				item[key] = v + "-more"
			case int64:
				item[key] = v + 1
			}
		}
		return append(slices.Clone(list), item)
	}
	if item, ok := list[at].(map[string]any); ok && len(item) > 0 {
		c.fields(item, nil)
		return list
	}
	list[at] = c.value("", list[at])
	return list
}

// value returns another value for a field.
func (c *change) value(field string, old any) any {
	switch c.IntN(12) {
	case 0:
		return nil
	case 1:
		return c.empty(old)
	case 2, 3, 4:
		if len(c.values[field]) > 0 {
			return c.like(field)
		}
	case 5:
		return []any{"text", int64(7), true, "", map[string]any{}, []any{}}[c.IntN(6)]
	}
	switch v := old.(type) {
	case string:
		return v + []string{"x", "-2", ".b", " "}[c.IntN(4)]
	case int64:
		return v + int64(c.IntN(5)) - 2
	case float64:
		return v * 2
	case bool:
		return !v
	}
	return old
}

// empty returns the empty value of the type of old.
func (*change) empty(old any) any {
	switch old.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	case string:
		return ""
	case int64, float64:
		return int64(0)
	}
	return false
}

// like returns a value that some example has in a field of this name.
func (c *change) like(field string) any {
	all := c.values[field]
	return runtime.DeepCopyJSONValue(all[c.IntN(len(all))])
}
