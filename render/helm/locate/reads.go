package locate

import (
	"slices"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
)

// reads are the keys of values that actions of templates read and that may decide a field.
type reads struct {
	// innermost are the keys of the action that wrote the field, outer those of the actions that called it.
	innermost, outer readKeys
	// around are the keys of the conditions and loops around these actions.
	around readKeys
	// followed are the keys of actions that all of these depend on through variables and included templates.
	followed readKeys
}

// The ranks of a key that an action reads, by the action's relation to the field.
const (
	readInnermost = 8
	readOuter     = 5
	readAround    = 4
	// readTogether is added for a key that is read together with the key above it.
	readTogether = 2
	// readAbove is the rank of a mapping or list that is read.
	readAbove = 2
)

// readsOf returns the keys that may decide what parts of templates wrote, each with its callers, or whether
// the keys in written are written.
func readsOf(d *release.Document, ways [][]engine.Place, written []string) *reads {
	var inner, outer, around []*engine.Action
	for _, way := range ways {
		first := true
		for _, p := range way {
			own, blocks := d.File.Action(p)
			switch {
			case own != nil && first:
				inner, first = append(inner, own), false
			case own != nil:
				outer = append(outer, own)
			}
			around = append(around, blocks...)
			for _, key := range written {
				around = append(around, d.File.Beside(p, key)...)
			}
		}
	}
	all := slices.Concat(inner, outer, around)
	followed := d.File.Follow(slices.Concat(ways...), all)
	return &reads{innermost: keysIn(inner), outer: keysIn(outer), around: keysIn(around), followed: keysIn(followed)}
}

// nearness returns the rank of a leaf by the nearest action that reads it or a parent; 0 if there is none.
func (r *reads) nearness(l *Leaf) int {
	if r == nil {
		return 0
	}
	return max(r.innermost.rank(l, readInnermost), r.outer.rank(l, readOuter), r.around.rank(l, readAround), r.followed.rank(l, readAround))
}

// readsTogether reports whether any action reads a leaf together with its parent.
func (r *reads) readsTogether(l *Leaf) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc([]readKeys{r.innermost, r.outer, r.around, r.followed}, func(k readKeys) bool {
		return slices.ContainsFunc(l.waysToRead(), func(way readWay) bool { return k[way.together] })
	})
}

// presence returns how likely a leaf decides whether anything is written; 0 if it does not.
func (r *reads) presence(l *Leaf) int {
	if r == nil {
		return 0
	}
	return max(r.innermost.rank(l, readInnermost), r.around.rank(l, readInnermost), r.followed.rank(l, readAround))
}

// rank returns rank for a leaf whose key is read, more if it is read together with the key above it, less if
// only a parent is read.
func (k readKeys) rank(l *Leaf, rank int) int {
	for i, way := range l.waysToRead() {
		switch {
		case k[way.together] && i > 0:
			return readAbove
		case i > 0:
		case k[way.together]:
			return rank + readTogether
		case k[way.key]:
			return rank
		}
	}
	return 0
}

// readKeys are the keys that actions read, and pairs of keys that they read together, as a.b.
type readKeys map[string]bool

func keysIn(actions []*engine.Action) readKeys {
	keys := readKeys{}
	for _, a := range actions {
		for _, key := range a.Keys {
			keys[key] = true
		}
	}
	return keys
}

// readWay is a way to read the value at a path: by the key alone, or together with the key above it.
type readWay struct{ key, together string }

// waysToRead returns the ways to read the value at a path, then its parents, the innermost first.
func waysToRead(path []any) (all []readWay) {
	before := "Values"
	for _, step := range path {
		if key, ok := step.(string); ok {
			all = append(all, readWay{key, before + "." + key})
			before = key
		}
	}
	slices.Reverse(all)
	return all
}
