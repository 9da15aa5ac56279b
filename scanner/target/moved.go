package target

import (
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Moves are the objects of a target that some of its roots lose and others gain: an API server gets
// requests to update them, not to delete or create them. An object that a root keeps is not among
// them, even if other roots have objects of its key: overlays of one target have the same keys.
type Moves struct {
	// elsewhere has, by root, the keys of objects that are judged in the root that gained them.
	elsewhere map[render.RootID]map[admission.Key]bool
	// origins has, by root and key, the possible base versions of the root's objects of the key: each
	// list is one possibility, the empty one that they are new.
	origins map[render.RootID]map[admission.Key][][]*admission.Object
	// Replaced are the units that are replaced by new units with the same objects, in order.
	Replaced []*Replaced
	// Unsure are the moves for which it is not known which object became which.
	Unsure []*Move
}

// Move describes which roots lose and gain the objects of one key.
type Move struct {
	Key admission.Key
	// From are the roots that lose the key, To those that gain it, in order.
	From, To []Holding
	// kept are the objects of the key that another root of the cluster had and still has.
	kept []*admission.Object
}

// isUnsure reports whether it is not known which object became which.
func (m *Move) isUnsure() bool {
	return len(m.From) != 1 || len(m.To) != 1 || m.To[0].unsure
}

// Holding are the objects of a key that a root has, or had. It is unsure when the root did not render
// at base, so that it may have had them before.
type Holding struct {
	Root    render.RootID
	objects []*admission.Object
	unsure  bool
}

// FindMoves compares the objects that roots of a target lose with those that judged roots gain.
func (s *Servers) FindMoves(c *change.Change) Moves {
	ms := Moves{
		elsewhere: map[render.RootID]map[admission.Key]bool{},
		origins:   map[render.RootID]map[admission.Key][][]*admission.Object{},
	}
	if c.Base == nil {
		return ms
	}
	held := holdings{}
	for _, m := range s.Target.movedKeys(c, s.everything(), held) {
		lost, gained := m.From, m.To
		for _, g := range gained {
			if len(lost) == 0 {
				ms.addOrigin(g.Root, m.Key, m.kept)
			}
		}
		m.separate(func(l, g Holding) bool {
			if s.Target.Cluster == "" {
				return held.areOverlays(l.Root, g.Root)
			}
			return deletesTaken(c, l, g.Root) || len(m.kept) == 0 && deletesFirst(c, l, g.Root)
		})
		if len(m.kept) == 0 {
			ms.replace(c, lost, gained)
		}
		if len(m.From) > 0 && len(m.To) > 0 {
			ms.settle(m)
			if m.isUnsure() {
				ms.Unsure = append(ms.Unsure, m)
			}
		}
	}
	return ms
}

// movedKeys returns the keys that some roots of a target lose and others gain, in order.
func (t *Target) movedKeys(c *change.Change, cluster *admission.Cluster, held holdings) []*Move {
	moved := map[admission.Key]*Move{}
	of := func(key admission.Key) *Move {
		if moved[key] == nil {
			moved[key] = &Move{Key: key}
		}
		return moved[key]
	}
	for _, root := range t.allRoots() {
		base, head := c.Base.Roots[root], c.Head.Roots[root]
		before, after := t.Base.Applied(base), t.Head.Applied(head)
		if base == head && len(before) == len(after) || head != nil && head.Problem != nil { // the objects that it loses are not known
			continue
		}
		had, has := byKey(cluster, named(before)), byKey(cluster, named(after))
		held[root] = [2]map[admission.Key][]*admission.Object{had, has}
		for key, objects := range had {
			if has[key] == nil && !c.LacksMore(root) {
				m := of(key)
				m.From = append(m.From, Holding{Root: root, objects: objects})
			}
		}
		for key, objects := range has {
			if had[key] == nil && slices.Contains(t.Roots, root) {
				m := of(key)
				m.To = append(m.To, Holding{Root: root, objects: objects, unsure: base != nil && base.Problem != nil || c.LackedMore(root)})
			}
		}
	}
	for _, m := range moved {
		if len(m.To) > 0 {
			m.kept = t.keptNamespace(m)
		}
	}
	maps.DeleteFunc(moved, func(_ admission.Key, m *Move) bool { return len(m.From)+len(m.kept) == 0 || len(m.To) == 0 })
	return slices.SortedFunc(maps.Values(moved), func(a, b *Move) int { return compareKeys(a.Key, b.Key) })
}

// keptNamespace returns the Namespace of a move that a root of a cluster had and still has: other roots that
// gain it update it. All roots that may have Namespaces are rendered.
func (t *Target) keptNamespace(m *Move) []*admission.Object {
	key := m.Key
	if t.Cluster == "" || key.Kind != kinds.Namespace.Kind || key.Group != kinds.Namespace.Group {
		return nil
	}
	for _, r := range t.Base.Roots {
		if slices.ContainsFunc(m.From, func(l Holding) bool { return l.Root == r.ID }) {
			continue
		}
		for _, o := range t.Base.Applied(r) {
			if o.Name() == key.Name && o.GroupVersionKind().GroupKind() == kinds.Namespace {
				return []*admission.Object{o}
			}
		}
	}
	return nil
}

// holdings are the objects of roots at base and at head, by key.
type holdings map[render.RootID][2]map[admission.Key][]*admission.Object

// separate removes from a move the roots whose objects are deleted and created, not updated: those for which
// isApart is true with every root of the other side.
func (m *Move) separate(isApart func(lost, gained Holding) bool) {
	from, to := m.From, m.To
	m.From = slices.DeleteFunc(slices.Clone(from), func(l Holding) bool {
		return !slices.ContainsFunc(to, func(g Holding) bool { return !isApart(l, g) })
	})
	m.To = slices.DeleteFunc(slices.Clone(to), func(g Holding) bool {
		return !slices.ContainsFunc(from, func(l Holding) bool { return !isApart(l, g) })
	})
}

// deletesTaken reports whether the deployer of a root deletes objects that the root loses even if the
// deployer of another root has applied them since. Helm always does. Flux and flux-operator delete objects
// with their labels, and overwrite the labels of another unit of theirs. Other deployers leave the labels,
// but flux-operator removes those of Flux.
func deletesTaken(c *change.Change, lost Holding, by render.RootID) bool {
	if !c.Removes(lost.Root, lost.objects[len(lost.objects)-1]) {
		return false
	}
	switch lost.Root.Kind {
	case render.KindHelm:
		return true
	case render.KindFlux:
		return by.Kind == render.KindHelm
	case render.KindResourceSet:
		return by.Kind != render.KindResourceSet
	}
	return false
}

// deletesFirst reports whether a unit of Flux or flux-operator deletes objects that it loses to a new unit of
// its kind before that unit applies any: it is gone, or it applies the object of the new unit.
func deletesFirst(c *change.Change, lost Holding, by render.RootID) bool {
	if lost.Root.Kind != by.Kind || by.Kind != render.KindFlux && by.Kind != render.KindResourceSet {
		return false
	}
	if _, was := c.Base.Root(by); was || !c.Removes(lost.Root, lost.objects[len(lost.objects)-1]) {
		return false
	}
	if _, stays := c.Head.Root(lost.Root); !stays {
		return true
	}
	for root, ok := c.Head.Root(by); ok && root.Unit != nil && !root.Unit.Entry; root, ok = c.Head.Root(root.Unit.Parent) {
		if root.Unit.Parent.ComparePlace(lost.Root) == 0 {
			return true
		}
	}
	return false
}

// Replaced is a unit that deletes objects before a new one applies them.
type Replaced struct {
	From, To render.RootID
	Objects  []*admission.Object
}

// replace records the objects of a move that are deleted before a new unit applies them.
func (ms *Moves) replace(c *change.Change, lost, gained []Holding) {
	for _, l := range lost {
		for _, g := range gained {
			if !deletesFirst(c, l, g.Root) {
				continue
			}
			i := slices.IndexFunc(ms.Replaced, func(r *Replaced) bool { return r.From == l.Root && r.To == g.Root })
			if i < 0 {
				i, ms.Replaced = len(ms.Replaced), append(ms.Replaced, &Replaced{From: l.Root, To: g.Root})
			}
			ms.Replaced[i].Objects = append(ms.Replaced[i].Objects, g.objects[len(g.objects)-1])
		}
	}
}

// areOverlays reports whether two roots have objects of the same key, at base or at head. A cluster has one
// object of a key, so these are overlays for several clusters: one loses an object, and another gains one.
func (h holdings) areOverlays(a, b render.RootID) bool {
	for i, objects := range h[a] {
		for key := range objects {
			if h[b][i][key] != nil {
				return true
			}
		}
	}
	return false
}

// named returns the objects whose names are not generated.
func named(objects []*admission.Object) []*admission.Object {
	return slices.DeleteFunc(slices.Clone(objects), isGenerated)
}

// allRoots returns a target's roots, in order: those that are judged, and those that are only part of
// its states.
func (t *Target) allRoots() []render.RootID {
	ids := slices.Clone(t.Roots)
	for _, st := range []*State{t.Base, t.Head} {
		for _, r := range st.Roots {
			ids = append(ids, r.ID)
		}
	}
	slices.SortFunc(ids, render.RootID.Compare)
	return slices.Compact(ids)
}

// settle determines which object became which. Equal objects are matched; each of the others may have
// become any of the others. If more roots gain the key than lose it, one of them may create it; if
// more lose it, one of them deletes it.
func (ms *Moves) settle(m *Move) {
	from, to := ms.settleEqual(m)
	candidates := from
	if len(from) == 0 {
		candidates = m.From
	}
	for _, g := range to {
		for _, l := range candidates {
			ms.addOrigin(g.Root, m.Key, l.objects)
		}
		if len(to) > len(from) || g.unsure {
			ms.addOrigin(g.Root, m.Key, nil)
		}
	}
	if len(to) >= len(from) {
		for _, l := range from {
			ms.markElsewhere(l.Root, m.Key)
		}
	}
}

// settleEqual settles the objects that are equal at base and at head, and returns the rest.
func (ms *Moves) settleEqual(m *Move) (from, to []Holding) {
	from = slices.Clone(m.From)
	for _, g := range m.To {
		i := slices.IndexFunc(from, func(l Holding) bool { return slices.EqualFunc(l.objects, g.objects, change.Equal) })
		if i < 0 {
			to = append(to, g)
			continue
		}
		ms.addOrigin(g.Root, m.Key, from[i].objects)
		ms.markElsewhere(from[i].Root, m.Key)
		from = slices.Delete(from, i, i+1)
	}
	return from, to
}

// markElsewhere records that objects that a root loses are judged in another root.
func (ms *Moves) markElsewhere(root render.RootID, key admission.Key) {
	if ms.elsewhere[root] == nil {
		ms.elsewhere[root] = map[admission.Key]bool{}
	}
	ms.elsewhere[root][key] = true
}

// addOrigin records a possible base version of the objects of a key; equal ones once.
func (ms *Moves) addOrigin(root render.RootID, key admission.Key, objects []*admission.Object) {
	if ms.origins[root] == nil {
		ms.origins[root] = map[admission.Key][][]*admission.Object{}
	}
	known := ms.origins[root][key]
	if !slices.ContainsFunc(known, func(o []*admission.Object) bool { return slices.EqualFunc(o, objects, change.Equal) }) {
		ms.origins[root][key] = append(known, objects)
	}
}

// Pairs returns the pairs of a root, with the objects that moved to it and without those that moved
// away.
func (ms *Moves) Pairs(root render.RootID, cluster *admission.Cluster, base, head []*admission.Object) []Pair {
	elsewhere, origins := ms.elsewhere[root], ms.origins[root]
	if len(elsewhere)+len(origins) == 0 {
		return PairObjects(cluster, base, head)
	}
	base = slices.DeleteFunc(slices.Clone(base), func(o *admission.Object) bool { return elsewhere[cluster.Key(o)] })
	stayed := slices.DeleteFunc(slices.Clone(head), func(o *admission.Object) bool { return origins[cluster.Key(o)] != nil })
	pairs := PairObjects(cluster, base, stayed)
	came := byKey(cluster, head)
	for _, key := range slices.SortedFunc(maps.Keys(origins), compareKeys) {
		for _, origin := range origins[key] {
			pairs = append(pairs, PairObjects(cluster, origin, came[key])...)
		}
	}
	return pairs
}
