package locate

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
)

// names distinguish the parts of an object from similar ones: the name of the object, and the names of the
// list items that contain a field.
type names struct {
	object string
	items  []string
}

// namesOn returns the names of an object and on the path to one of its fields.
func (o *object) namesOn(field string) names {
	n := names{object: nameIn(o.node, "metadata.name")}
	hops, _ := origin.Descend(o.rootOf(field))
	for _, hop := range hops {
		if hop.Key == nil {
			if name := nameIn(hop.Value, "name"); name != "" {
				n.items = append(n.items, name)
			}
		}
	}
	return n
}

// nameIn returns the text of a field of a node; "" if it has none.
func nameIn(node *yaml.Node, field string) string {
	hops, ok := origin.Descend(node, origin.ParsePath(field))
	if !ok || len(hops) == 0 || hops[len(hops)-1].Value.Kind != yaml.ScalarNode {
		return ""
	}
	return hops[len(hops)-1].Value.Value
}

// in counts the keys on the path to a leaf that are such names, or parts of the object's name: charts make
// objects and containers from maps by their keys.
func (n names) in(l *Leaf) int {
	count := 0
	for _, step := range l.Path {
		key, ok := step.(string)
		if !ok || key == "" {
			continue
		}
		if strings.Contains("-"+n.object+"-", "-"+key+"-") {
			count++
		}
		for _, item := range n.items {
			if item == key {
				count++
			}
		}
	}
	return count
}
