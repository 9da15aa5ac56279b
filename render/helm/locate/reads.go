package locate

import (
	"slices"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
)

// reads are the keys of values that actions of templates may read to decide a field.
type reads struct {
	// innermost are those of the action that wrote the field, outer those of the actions that called it.
	innermost, outer readKeys
	// around are those of the conditions and loops that these actions are in.
	around readKeys
	// followed are those that all of these depend on by way of variables and included templates.
	followed readKeys
}

// How much it counts that an action reads a key, by what it has to do with the field.
const (
	readInnermost = 8
	readOuter     = 5
	readAround    = 4
	// readTogether is for a key that is read together with the one above it.
	readTogether = 2
	// readAbove is for a mapping or list that is read.
	readAbove = 2
)

// readsOf are the keys that may decide what parts of templates wrote, each with those that it was called by, or whether some
// keys are written.
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

// nearness says how near to the field an action is that reads a leaf, or what it is in; 0 for none.
func (r *reads) nearness(l *Leaf) int {
	if r == nil {
		return 0
	}
	return max(r.innermost.rank(l, readInnermost), r.outer.rank(l, readOuter), r.around.rank(l, readAround), r.followed.rank(l, readAround))
}

// readsTogether reports whether any action reads a leaf together with what it is in.
func (r *reads) readsTogether(l *Leaf) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc([]readKeys{r.innermost, r.outer, r.around, r.followed}, func(k readKeys) bool {
		return k[l.waysToRead()[0].together]
	})
}

// presence says how likely it is that a leaf decides whether there is anything at all; 0 for not.
func (r *reads) presence(l *Leaf) int {
	if r == nil {
		return 0
	}
	return max(r.innermost.rank(l, readInnermost), r.around.rank(l, readInnermost), r.followed.rank(l, readAround))
}

// rank is that of a leaf whose key is read, more if it is together with the one above it, less if only what it is in is read.
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

// readKeys are the keys that actions read, and pairs of such that they read together, as a.b.
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

// readWay is how actions may read what a path leads to: by the key alone, and together with the one
// above it.
type readWay struct{ key, together string }

// waysToRead are those of a path, then those of what it is in, from the inside.
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
