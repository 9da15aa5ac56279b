package rules

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resmap"

	"github.com/preadmit/preadmit/render/kustomize/padding"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// rebuilt returns the padded build without some of the changes that make nodes lose their lines. Its objects
// have the same indexes as the root's; it is nil if the set of objects changes.
func (l *locator) rebuilt(without padding.Elision) resmap.ResMap {
	if known, ok := l.rebuilds[without]; ok {
		return known
	}
	if l.rebuilds == nil {
		l.rebuilds = map[padding.Elision]resmap.ResMap{}
	}
	l.rebuilds[without] = nil
	p := l.padder.Without(without)
	resources, err := l.run(p.Serve)
	if err != nil || resources.Size() != len(l.resources) {
		return nil
	}
	for i, res := range resources.Resources() {
		if res.GetKind() != l.resources[i].GetKind() || !l.sameName(i, res.GetName()) {
			return nil
		}
	}
	l.padder.Join(p)
	l.rebuilds[without] = resources
	return resources
}

// sameName reports whether a name is that of an object, ignoring the hash suffix of a generated object.
func (l *locator) sameName(object int, name string) bool {
	now := l.resources[object].GetName()
	return name == now || l.isGenerated(object) && origin.ContentHash.ReplaceAllString(name, "") == origin.ContentHash.ReplaceAllString(now, "")
}

// before returns the padded build without JSON6902 patches.
func (l *locator) before() resmap.ResMap {
	if all := l.rebuilt(padding.Elision{Patches: true}); all != nil {
		return all
	}
	return l.rebuilt(padding.Elision{Patches: true, Replacements: true})
}

// unset finds the value that kustomize replaced with another: in a build without the changes that set values,
// or at the key, which kustomize keeps.
func (l *locator) unset(object int, steps []origin.PathStep, like string) (tree.Position, bool) {
	through := reparsed(l.resources[object].YNode())
	if through {
		if pos, ok := l.operatedUnset(object, steps, like); ok {
			return pos, true
		}
	}
	builds := []resmap.ResMap{l.rebuilt(padding.Elision{Values: true, Patches: through})}
	if through {
		builds = append(builds, l.before())
	}
	for _, built := range builds {
		if built == nil {
			continue
		}
		hops, complete := origin.Descend(built.Resources()[object].YNode(), steps)
		if !complete || len(hops) == 0 {
			continue
		}
		last := hops[len(hops)-1]
		if pos, ok := l.place(last.Value); ok && strings.Contains(last.Value.Value, like) {
			return pos, true
		}
		if pos, ok := l.placeAtKey(last.Key, like); ok {
			return pos, true
		}
	}
	return tree.Position{}, false
}

// operatedUnset finds the JSON6902 operation that wrote a value which was replaced later.
func (l *locator) operatedUnset(object int, steps []origin.PathStep, like string) (tree.Position, bool) {
	all := l.rebuilt(padding.Elision{Values: true})
	if all == nil {
		return tree.Position{}, false
	}
	hops, complete := origin.Descend(all.Resources()[object].YNode(), steps)
	if !complete || len(hops) == 0 || !strings.Contains(hops[len(hops)-1].Value.Value, like) {
		return tree.Position{}, false
	}
	document := l.document(object)
	h := fieldHistory{steps: steps, nodes: hops, total: len(steps), leaf: hops[len(hops)-1].Value}
	pos, found, _ := l.operated(&h, l.identity(object, document))
	return pos, found
}

// placeAtKey returns the place of the scalar that was written at a key, if it is a part of like, or like is a
// part of it.
func (l *locator) placeAtKey(key *yaml.Node, like string) (tree.Position, bool) {
	if key == nil {
		return tree.Position{}, false
	}
	r := l.padder.Find(key.Line)
	if r == nil {
		return tree.Position{}, false
	}
	value := r.ValueOf(key)
	if value == nil || value.Kind != yaml.ScalarNode || value.Value == "" ||
		!strings.Contains(like, value.Value) && !strings.Contains(value.Value, like) {
		return tree.Position{}, false
	}
	return r.Snippet.Position(value), true
}
