package target

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	apiserver "k8s.io/apiserver/pkg/admission"
)

// Pair is an object of a root before and after the change: one request.
type Pair struct {
	Key admission.Key
	// Base is nil for a CREATE, Head for a DELETE; both are set for an UPDATE, which is a no-op when
	// they are equal.
	Base, Head *admission.Object
	Same       bool
	// Live is the object in the cluster before the change, if it is known. With it, an object that
	// only the head has is updated, too.
	Live *admission.Object
	// Generated is set for an object with a generated name, or a hook: it is created whenever it is
	// applied.
	Generated bool
	// Earlier is the object that was deleted before the change, when the deployer last took this
	// step: a hook is deleted whenever it has run, or runs again. It is nil if there was no such
	// step.
	Earlier *admission.Object
	// Resumed is set when the base's version was not applied, because the deployer was
	// suspended.
	Resumed bool
	// OtherUser is set when another user applies the head's version than applied the base's.
	OtherUser bool
}

func (p Pair) Operation() apiserver.Operation {
	switch {
	case p.Head == nil:
		return apiserver.Delete
	case p.Base == nil && p.Live == nil || p.Generated:
		return apiserver.Create
	}
	return apiserver.Update
}

// Object returns the head's object, or the base's if the head has none.
func (p Pair) Object() *admission.Object {
	if p.Head == nil {
		return p.Base
	}
	return p.Head
}

// PairObjects pairs the objects of a root at base and at head, in the order of the head's objects,
// then of the base's that are gone. Several objects of one key are paired in their order; additional
// ones on one side are paired with the last of the other side, the one that remains when they are
// applied in order. Objects with generated names (generateName) are the same when they are equal; one
// that is gone was never applied under a known name, so nothing deletes it.
func PairObjects(cluster *admission.Cluster, base, head []*admission.Object) []Pair {
	before := byKey(cluster, base)
	last, left := lastOf(before), before
	pairs := make([]Pair, 0, len(head))
	for _, o := range head {
		p := Pair{Key: cluster.Key(o), Head: o, Generated: isGenerated(o)}
		if p.Base, left[p.Key] = take(left[p.Key], p); p.Base == nil && !p.Generated {
			p.Base = last[p.Key]
		}
		p.Same = p.Base != nil && change.Equal(p.Base, o)
		pairs = append(pairs, p)
	}
	stays := lastOf(byKey(cluster, head))
	for _, o := range base {
		key := cluster.Key(o)
		if len(left[key]) == 0 || left[key][0] != o || isGenerated(o) {
			continue
		}
		left[key] = left[key][1:]
		if stays[key] != nil && isGenerated(stays[key]) { // it was replaced by a hook
			pairs = append(pairs, Pair{Key: key, Base: o})
			continue
		}
		if p := (Pair{Key: key, Base: o, Head: stays[key]}); p.Head == nil || !change.Equal(p.Base, p.Head) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// byKey groups objects by their keys.
func byKey(cluster *admission.Cluster, objects []*admission.Object) map[admission.Key][]*admission.Object {
	all := map[admission.Key][]*admission.Object{}
	for _, o := range objects {
		key := cluster.Key(o)
		all[key] = append(all[key], o)
	}
	return all
}

// lastOf returns the last object of each key.
func lastOf(objects map[admission.Key][]*admission.Object) map[admission.Key]*admission.Object {
	last := map[admission.Key]*admission.Object{}
	for key, all := range objects {
		last[key] = all[len(all)-1]
	}
	return last
}

// take removes the base's version of p's object from candidates and returns it.
func take(candidates []*admission.Object, p Pair) (*admission.Object, []*admission.Object) {
	for i, o := range candidates {
		if isGenerated(o) == p.Generated && (!p.Generated || change.Equal(o, p.Head)) {
			left := append(append([]*admission.Object{}, candidates[:i]...), candidates[i+1:]...)
			return o, left
		}
	}
	return nil, candidates
}

// isGenerated reports whether an object is created whenever it is applied: its name is generated, or
// it is a hook that is not updated.
func isGenerated(o *admission.Object) bool {
	hook := change.HookOf(o)
	return o.Name() == "" && o.GenerateName() != "" || change.RoleOf(o) == render.RoleHook && (hook == nil || !hook.Updated)
}
