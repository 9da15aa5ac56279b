package scanner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// moves are the objects of a target that some of its roots lose and others gain: an
// API server is asked to update them, and neither to delete nor to create them. An
// object that a root keeps is not among them, whatever other roots have of its key:
// overlays of one target have the same keys.
type moves struct {
	// elsewhere has, by root, the keys whose objects are judged where they went to.
	elsewhere map[render.RootID]map[admission.Key]bool
	// origins has, by root and key, what the root's objects of the key may have been
	// at base: each list is one possibility, the empty one that they are new.
	origins map[render.RootID]map[admission.Key][][]*admission.Object
}

// move is what becomes of one key.
type move struct {
	key admission.Key
	// from are the roots that lose the key, to those that gain it, in order.
	from, to []holding
}

// holding is what a root has, or had, of a key. It is unsure when the root did not
// render at base, so that it may have had it before.
type holding struct {
	root    render.RootID
	objects []*admission.Object
	unsure  bool
}

// findMoves compares what all roots of a target lose with what those gain that are
// judged.
func (s *scan) findMoves(c *servers) moves {
	ms := moves{
		elsewhere: map[render.RootID]map[admission.Key]bool{},
		origins:   map[render.RootID]map[admission.Key][][]*admission.Object{},
	}
	if s.Base == nil {
		return ms
	}
	held := holdings{}
	for _, m := range s.movedKeys(c.target, c.everything(), held) {
		held.separate(m)
		if len(m.from) > 0 && len(m.to) > 0 {
			ms.settle(m)
			s.noteMove(m)
		}
	}
	return ms
}

// movedKeys are the keys that roots of a target lose or gain, in order.
func (s *scan) movedKeys(t *target, cluster *admission.Cluster, held holdings) []*move {
	moved := map[admission.Key]*move{}
	of := func(key admission.Key) *move {
		if moved[key] == nil {
			moved[key] = &move{key: key}
		}
		return moved[key]
	}
	for _, root := range t.allRoots() {
		base, head := s.Base.Roots[root], s.Head.Roots[root]
		if base == head || head != nil && head.Problem != nil { // what it loses is not known
			continue
		}
		before, after := byKey(cluster, named(base.All())), byKey(cluster, named(head.All()))
		held[root] = [2]map[admission.Key][]*admission.Object{before, after}
		for key, objects := range before {
			if after[key] == nil {
				m := of(key)
				m.from = append(m.from, holding{root: root, objects: objects})
			}
		}
		for key, objects := range after {
			if before[key] == nil && slices.Contains(t.roots, root) {
				m := of(key)
				m.to = append(m.to, holding{root: root, objects: objects, unsure: base != nil && base.Problem != nil})
			}
		}
	}
	return slices.SortedFunc(maps.Values(moved), func(a, b *move) int { return compareKeys(a.key, b.key) })
}

// holdings are what roots had and have, by key.
type holdings map[render.RootID][2]map[admission.Key][]*admission.Object

// separate takes roots out of a move that share other objects with all roots of its other
// side: a cluster has one object of a key, so these are overlays for several clusters, of
// which one loses the object and another gets a new one.
func (h holdings) separate(m *move) {
	from, to := m.from, m.to
	m.from = slices.DeleteFunc(slices.Clone(from), func(l holding) bool {
		return !slices.ContainsFunc(to, func(g holding) bool { return !h.apart(l.root, g.root) })
	})
	m.to = slices.DeleteFunc(slices.Clone(to), func(g holding) bool {
		return !slices.ContainsFunc(from, func(l holding) bool { return !h.apart(l.root, g.root) })
	})
}

// apart tells whether two roots have objects of the same key, at base or at head.
func (h holdings) apart(a, b render.RootID) bool {
	for i, objects := range h[a] {
		for key := range objects {
			if h[b][i][key] != nil {
				return true
			}
		}
	}
	return false
}

// named are the objects that are not named by the server.
func named(objects []*admission.Object) []*admission.Object {
	return slices.DeleteFunc(slices.Clone(objects), isGenerated)
}

// allRoots are a target's roots, in order: those that are judged, and
// those that are only looked at.
func (t *target) allRoots() []render.RootID {
	ids := slices.Clone(t.roots)
	for _, st := range []*state{t.base, t.head} {
		for _, r := range st.roots {
			ids = append(ids, r.ID)
		}
	}
	slices.SortFunc(ids, render.RootID.Compare)
	return slices.Compact(ids)
}

// settle finds out which object became which. Equal ones did; of what is left each
// may have become each. Where more roots gain it than lose it one of them creates it
// too, and where more lose it one of them deletes it.
func (ms *moves) settle(m *move) {
	from, to := ms.settleEqual(m)
	candidates := from
	if len(from) == 0 {
		candidates = m.from
	}
	for _, g := range to {
		for _, l := range candidates {
			ms.offer(g.root, m.key, l.objects)
		}
		if len(to) > len(from) || g.unsure {
			ms.offer(g.root, m.key, nil)
		}
	}
	if len(to) >= len(from) {
		for _, l := range from {
			ms.leave(l.root, m.key)
		}
	}
}

// settleEqual settles what is the same where it was and where it is, and gives the
// rest.
func (ms *moves) settleEqual(m *move) (from, to []holding) {
	from = slices.Clone(m.from)
	for _, g := range m.to {
		i := slices.IndexFunc(from, func(l holding) bool { return slices.EqualFunc(l.objects, g.objects, change.Equal) })
		if i < 0 {
			to = append(to, g)
			continue
		}
		ms.offer(g.root, m.key, from[i].objects)
		ms.leave(from[i].root, m.key)
		from = slices.Delete(from, i, i+1)
	}
	return from, to
}

// leave notes that objects are judged in another root than the one they leave.
func (ms *moves) leave(root render.RootID, key admission.Key) {
	if ms.elsewhere[root] == nil {
		ms.elsewhere[root] = map[admission.Key]bool{}
	}
	ms.elsewhere[root][key] = true
}

// offer notes what the objects of a key may have been at base, equal ones once.
func (ms *moves) offer(root render.RootID, key admission.Key, objects []*admission.Object) {
	if ms.origins[root] == nil {
		ms.origins[root] = map[admission.Key][][]*admission.Object{}
	}
	known := ms.origins[root][key]
	if !slices.ContainsFunc(known, func(o []*admission.Object) bool { return slices.EqualFunc(o, objects, change.Equal) }) {
		ms.origins[root][key] = append(known, objects)
	}
}

// pairs are those of a root whose objects moved or stayed.
func (ms *moves) pairs(root render.RootID, cluster *admission.Cluster, base, head []*admission.Object) []pair {
	elsewhere, origins := ms.elsewhere[root], ms.origins[root]
	if len(elsewhere)+len(origins) == 0 {
		return pairObjects(cluster, base, head)
	}
	base = slices.DeleteFunc(slices.Clone(base), func(o *admission.Object) bool { return elsewhere[cluster.Key(o)] })
	stayed := slices.DeleteFunc(slices.Clone(head), func(o *admission.Object) bool { return origins[cluster.Key(o)] != nil })
	pairs := pairObjects(cluster, base, stayed)
	came := byKey(cluster, head)
	for _, key := range slices.SortedFunc(maps.Keys(origins), compareKeys) {
		for _, origin := range origins[key] {
			pairs = append(pairs, pairObjects(cluster, origin, came[key])...)
		}
	}
	return pairs
}

// noteMove tells where it is not known which object became which.
func (s *scan) noteMove(m *move) {
	if len(m.from) == 1 && len(m.to) == 1 && !m.to[0].unsure {
		return
	}
	s.diagnose(report.Diagnostic{Severity: "note", Message: fmt.Sprintf(
		"%s is gone from %s and new in %s: which of them became which is not known, so what differs is judged each way",
		m.key, rootsOf(m.from), rootsOf(m.to))})
}

func rootsOf(list []holding) string {
	roots := make([]string, len(list))
	for i, h := range list {
		roots[i] = h.root.String()
	}
	return strings.Join(roots, ", ")
}
