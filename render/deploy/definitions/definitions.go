// Package definitions holds the custom kinds of clusters, which charts see among the served kinds.
package definitions

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/scope"
)

// Kind is the kind of objects that define custom kinds.
var Kind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// Known are the known custom kinds of a cluster.
type Known map[schema.GroupKind]render.Definition

// Add adds definitions.
func (k Known) Add(definitions []render.Definition) {
	for _, d := range definitions {
		k[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = d
	}
}

// Find returns the known definition with the kind of another definition.
func (k Known) Find(d render.Definition) (render.Definition, bool) {
	found, ok := k[schema.GroupKind{Group: d.Group, Kind: d.Kind}]
	return found, ok
}

// AddObjects adds the kinds that objects of results define. A result may be nil.
func (k Known) AddObjects(results ...*render.Result) {
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, o := range r.Objects {
			if d, ok := render.DefinitionOf(o.JSON); ok {
				k.Add([]render.Definition{d})
			}
		}
	}
}

// Mentioned returns the kinds whose groups a root mentions, in order.
func (k Known) Mentioned(root render.Declared) (mentioned []render.Definition) {
	for _, d := range k {
		if root.Mentions != nil && root.Mentions(d.Group) {
			mentioned = append(mentioned, d)
		}
	}
	slices.SortFunc(mentioned, func(a, b render.Definition) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return mentioned
}

// Defining returns the roots that may define kinds of custom groups which some root looks up and which are not known.
func Defining[R comparable](roots []R, declared map[R]render.Declared, known Known) (defining []R) {
	wanted := map[string]bool{}
	for _, r := range roots {
		for _, group := range declared[r].DependsOn {
			if IsCustom(group) {
				wanted[group] = true
			}
		}
	}
	for kind := range known {
		delete(wanted, kind.Group)
	}
	asked := slices.Collect(maps.Keys(wanted))
	for _, r := range roots {
		if d := declared[r]; d.May && slices.ContainsFunc(asked, d.Mentions) {
			defining = append(defining, r)
		}
	}
	return defining
}

// IsCustom reports whether a group may be one of custom kinds: it is none of Kubernetes itself.
func IsCustom(group string) bool { return !scope.HasGroup(group) }
