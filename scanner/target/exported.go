package target

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Given are the objects given beside the trees.
type Given struct {
	Objects []*admission.Object
	// Exported are objects read from a cluster.
	Exported []*admission.Object
}

// exported returns the known objects of a target's cluster, by their keys: those given as such beside the
// trees, and objects with a uid, which a server wrote, in the configured context.
func (b *builder) exported(ctx context.Context, t *Target, c config.Target) (map[admission.Key]*admission.Object, error) {
	all := map[admission.Key]*admission.Object{}
	if t.Base == nil {
		return nil, nil
	}
	add := func(o *admission.Object) {
		if o.Name() != "" && !kinds.IsPolicy(o.GroupVersionKind().GroupKind()) {
			all[t.Head.Cluster.Key(o)] = o
		}
	}
	for _, p := range slices.Concat(b.config.Context, c.Context) {
		results, err := b.Base.RenderGiven(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			for _, o := range r.Objects {
				if uid, _, _ := unstructured.NestedString(o.Content(), "metadata", "uid"); uid != "" && !slices.Contains(t.Roots, r.ID) {
					add(o)
				}
			}
		}
	}
	for _, o := range b.given.Exported {
		add(o)
	}
	return all, nil
}

// settle removes exported objects that no root has, and those that several roots have: it is not known from
// whose cluster they were read. It returns the keys of the latter, in order.
func settle(targets []*Target) (unclear []admission.Key) {
	roots := map[*admission.Object]int{}
	for _, t := range targets {
		base, head := t.Base.holders(t.exported), t.Head.holders(t.exported)
		for key, o := range t.exported {
			roots[o] += max(base[key], head[key])
		}
	}
	for _, t := range targets {
		maps.DeleteFunc(t.exported, func(key admission.Key, o *admission.Object) bool {
			if roots[o] > 1 && !slices.Contains(unclear, key) {
				unclear = append(unclear, key)
			}
			return roots[o] != 1
		})
	}
	slices.SortFunc(unclear, compareKeys)
	return unclear
}

// holders counts, for each key of a map, the roots of a state that have an object of it.
func (s *State) holders(of map[admission.Key]*admission.Object) map[admission.Key]int {
	counts := map[admission.Key]int{}
	if len(of) == 0 {
		return counts
	}
	for _, r := range s.Roots {
		had := map[admission.Key]bool{}
		for _, o := range r.Objects {
			if key := s.Cluster.Key(o); of[key] != nil && !had[key] {
				had[key] = true
				counts[key]++
			}
		}
	}
	return counts
}

// WithLive returns pairs with the live objects, where they are known.
func (t *Target) WithLive(pairs []Pair) []Pair {
	for i := range pairs {
		if p := &pairs[i]; len(t.exported) > 0 && !p.Generated && change.RoleOf(p.Object()) != render.RoleHook {
			p.Live = t.exported[p.Key]
		}
	}
	return pairs
}
