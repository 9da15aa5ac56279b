package locate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// fieldSearch is a field whose place is wanted.
type fieldSearch struct {
	*object
	clue
	wrote
	// applied is the path of the field in the applied object.
	applied string
	// there is set when the object has the field, whole when it is a mapping or list.
	there, whole bool
}

// search collects what is known about a field before values are tried. The caller holds the lock.
func (o *object) search(field string, part origin.Part, value any, found bool) *fieldSearch {
	c := clue{field: field, text: Text(value)}
	for _, step := range origin.ParsePath(field) {
		if !step.Indexed {
			c.keys = append(c.keys, step.Key)
		}
	}
	if name, version := origin.SplitImage(c.text); strings.HasSuffix(field, ".image") && part != origin.Whole {
		c.text = map[origin.Part]string{origin.Front: name, origin.Back: strings.TrimLeft(version, ":@")}[part]
	}
	l := &fieldSearch{object: o, wrote: o.wrote(field, c.text), applied: field, there: found, whole: found && !IsScalar(value)}
	if l.literal {
		c.text = "" // which equals no value
	}
	c.reads, c.names = o.readsOf(l.wrote), o.namesOn(field)
	l.clue = c
	return l
}

// deciding returns the value that decides the field, preferably one that is written in the tree; otherwise the
// value that decides whether the object exists, if the user set it or the template is not in the tree. It
// returns nil when it finds none. without is the deciding value if leaf decides only whether the field exists;
// otherwise it equals leaf.
func (l *fieldSearch) deciding() (leaf, without *Leaf) {
	if l.made.Document == nil || l.whole {
		return nil, nil
	}
	_, ours := l.inTree(l.at)
	var decides, keeps *Leaf
	worth := func(leaf *Leaf) (written, ok bool) {
		_, written = l.writtenAt(leaf)
		return written, decides == nil || written // a deciding value that is not in the tree is known already
	}
	leaves := l.first(fieldTries)
	for i, leaf := range leaves {
		written, ok := worth(leaf)
		if !ok {
			continue
		}
		if i > 0 || l.missing != nil { // the first often decides a field that exists
			l.tryAhead(l.file(l.made.Document), slices.DeleteFunc(slices.Clone(leaves[i:]), func(other *Leaf) bool { _, ok := worth(other); return !ok }))
		}
		switch e := l.effect(leaf, l.field); {
		case e == changed && written && l.literal:
			return leaf, nil
		case e == changed && written:
			return leaf, leaf
		case e == changed:
			decides = cmp.Or(decides, leaf)
		case e == gone && written && !leaf.Builtin && (!leaf.Default || !ours):
			keeps = cmp.Or(keeps, leaf)
		}
	}
	switch {
	case l.missing == nil && keeps != nil:
		return keeps, decides
	case decides == nil && l.there: // perhaps the text of an else
		return l.emptied(l.field), nil
	}
	return decides, decides
}

// first returns at most n leaves worth a try: those that may decide the field, and if possible at least one
// that may decide whether the object exists.
func (l *fieldSearch) first(n int) []*Leaf {
	all := l.candidates(l.allLeaves())
	if l.missing != nil {
		return all[:min(len(all), n)]
	}
	_, ours := l.inTree(l.at)
	var keepers []*Leaf
	for _, leaf := range l.keepers() {
		if !leaf.Default || !ours {
			keepers = append(keepers, leaf)
		}
	}
	all = all[:min(len(all), n)]
	if len(all) == n && len(keepers) > 0 && !slices.Contains(all, keepers[0]) {
		all = all[:n-1]
	}
	for _, keeper := range keepers {
		if len(all) < n && !slices.Contains(all, keeper) {
			all = append(all, keeper)
		}
	}
	return all
}

// also returns where other values are written that decide a text which consists of several.
func (l *fieldSearch) also(leaf *Leaf) (places []origin.Place) {
	if leaf == nil || l.clue.text == "" || leaf.text() == l.clue.text {
		return nil
	}
	for _, other := range l.first(fieldTries) {
		if other == leaf {
			continue
		}
		if place, ok := l.writtenAt(other); ok && l.effect(other, l.field) == changed {
			places = append(places, origin.Place{Position: place.Position, Evidence: origin.Inferred})
		}
	}
	return places
}

// placeOfLeaf returns where the deciding value is written.
func (l *fieldSearch) placeOfLeaf(leaf *Leaf) origin.Place {
	if place, ok := l.writtenAt(leaf); ok {
		return l.proven(leaf, place)
	}
	why := l.madeBy(l.at)
	if leaf.Default || l.IsDefault != nil && l.IsDefault(leaf) {
		if file, line, _ := l.defaultOf(leaf); line > 0 {
			_, file, _ = strings.Cut(file, "/")
			why += fmt.Sprintf(" <- %s:%d (default)", file, line)
		}
	}
	return origin.Place{Position: l.Named, Why: why}
}

// writtenAt returns where a value is written in the tree; ok is false if it is not in the tree.
func (t *Tracer) writtenAt(leaf *Leaf) (place origin.Place, ok bool) {
	if leaf.Builtin {
		return t.builtinAt(leaf)
	}
	if place, ok = t.Written(leaf); ok || !leaf.Default {
		return place, ok
	}
	file, line, column := t.defaultOf(leaf)
	if line == 0 {
		return place, false
	}
	name, ok := t.pathOf(file)
	return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}, ok
}
