package locate

import (
	"regexp"
	"slices"
	"strings"

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
	var inner, outer, around, followed []string
	for _, way := range ways {
		first := true
		for _, p := range way {
			own, blocks := d.File.Action(p)
			switch {
			case own != "" && first:
				inner, first = append(inner, own), false
			case own != "":
				outer = append(outer, own)
			}
			around = append(around, blocks...)
			for _, key := range written {
				around = append(around, d.File.Beside(p, key)...)
			}
		}
	}
	all := slices.Concat(inner, outer, around)
	for _, way := range ways {
		for _, p := range way {
			followed = append(followed, d.File.Follow(p, all)...)
		}
	}
	return &reads{innermost: keysIn(inner), outer: keysIn(outer), around: keysIn(around), followed: keysIn(followed)}
}

// nearness says how near to the field an action is that reads what a path leads to, or what that is in; 0 for none.
func (r *reads) nearness(path []any) int {
	if r == nil {
		return 0
	}
	return max(r.innermost.rank(path, readInnermost), r.outer.rank(path, readOuter), r.around.rank(path, readAround), r.followed.rank(path, readAround))
}

// presence says how likely it is that what a path leads to decides whether there is anything at all; 0 for not.
func (r *reads) presence(path []any) int {
	if r == nil {
		return 0
	}
	return max(r.innermost.rank(path, readInnermost), r.around.rank(path, readInnermost), r.followed.rank(path, readAround))
}

// rank is that of a path of which the last key is read, more if it is together with the one before it.
func (k readKeys) rank(path []any, rank int) int {
	switch one, together := k.reads(path); {
	case together:
		return rank + readTogether
	case one:
		return rank
	case k.readsAbove(path):
		return readAbove
	}
	return 0
}

// readKeys are the keys that actions read, and pairs of such that they read together, as a.b.
type readKeys map[string]bool

// readKey is a key that is read as a field, or said in quotes as functions are told it.
var readKey = regexp.MustCompile(`\.(\w+)|"([^"]+)"`)

func keysIn(actions []string) readKeys {
	keys := readKeys{}
	for _, text := range actions {
		before, end := "", 0
		for _, at := range readKey.FindAllStringSubmatchIndex(text, -1) {
			quoted, from, to := at[2] < 0, max(at[2], at[4]), max(at[3], at[5])
			key := text[from:to]
			keys[key] = true
			if before != "" && strings.TrimSpace(text[end:at[0]]) == "" && (quoted || end == at[0]) {
				keys[before+"."+key] = true
			}
			before, end = key, at[1]
		}
	}
	return keys
}

// reads reports whether the last key of a path is read, and whether it is together with the one before it, which is
// Values where there is none.
func (k readKeys) reads(path []any) (one, together bool) {
	keys := []string{"Values"}
	for _, step := range path {
		if key, ok := step.(string); ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 1 {
		return false, false
	}
	last, before := keys[len(keys)-1], keys[len(keys)-2]
	return k[last], k[before+"."+last]
}

// readsAbove reports whether what the last key of a path is in is read, together with the one before it.
func (k readKeys) readsAbove(path []any) bool {
	for n := len(path) - 1; n > 0; n-- {
		if _, together := k.reads(path[:n]); together {
			return true
		}
	}
	return false
}
