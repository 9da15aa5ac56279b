package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
)

// court has the judges of a target's roots. Roots that see the same share them.
type court struct {
	target   *target
	compiler *policy.Compiler

	mu     sync.Mutex
	loaded []*loaded
	judges map[string]*judge
	// definitions are the CRDs of the head that differ from the base's: they are
	// applied before the objects that need them, whoever judges.
	definitions *admission.Index
}

// loaded is a set of policies as an API server accepts it.
type loaded struct {
	objects  []*admission.Object
	set      *policy.Set
	refusals []policy.Refusal
}

func newCourt(t *target, compiler *policy.Compiler) *court {
	c := &court{target: t, compiler: compiler, judges: map[string]*judge{}}
	crds := []*admission.Object{}
	for _, key := range t.changed {
		if defs := t.head.governing[key]; key.Kind == kinds.Definition.Kind && key.Group == kinds.Definition.Group && len(defs) > 0 {
			crds = append(crds, defs[0].object)
		}
	}
	c.definitions = admission.NewIndex(crds)
	return c
}

// everything is the cluster that knows all kinds of the change, those of the head
// before those of the base where their definitions differ.
func (c *court) everything() *admission.Cluster {
	t := c.target
	return admission.NewCluster(admission.ClusterOptions{}, c.definitions, t.base.shared, t.base.given, t.head.shared, t.head.given)
}

// hearing is who judges the objects of one root, and by what that changed.
type hearing struct {
	root  render.RootID
	reach reach
	// workloads is set when workloads are expanded into what their controllers create.
	workloads bool
	// inForce and proposed are the same when nothing that governs the root differs,
	// or there is no base; before judges the base's objects by the base alone.
	inForce, proposed, before *judge
	// refusals are the head's policies that an API server would not accept, before
	// the change and after it.
	refusalsBefore, refusals []policy.Refusal
}

// hear prepares to judge a root.
func (c *court) hear(ctx context.Context, root render.RootID) *hearing {
	t := c.target
	h := &hearing{root: root}
	h.proposed, h.refusals = c.judge(ctx, t.head, root, nil, nil)
	h.inForce, h.before, h.refusalsBefore = h.proposed, h.proposed, h.refusals
	if t.base == nil {
		return h
	}
	if h.reach = reachOf(root, t.base, t.head, t.changed); h.reach.any {
		h.before, h.refusalsBefore = c.judge(ctx, t.base, root, nil, nil)
		h.inForce, _ = c.judge(ctx, t.base, root, []*admission.Index{c.definitions}, t.head)
	}
	return h
}

// judge makes, or finds, the judge with the policies of a state. Objects of first
// come before those of the state, objects of also after them.
func (c *court) judge(ctx context.Context, st *state, root render.RootID, first []*admission.Index, also *state) (*judge, []policy.Refusal) {
	j := &judge{}
	refusals := []policy.Refusal{}
	parts := []string{}
	for _, set := range st.policySets(root) {
		layers := slices.Concat(first, st.layersFor(root, set.lead))
		if also != nil {
			layers = append(layers, also.layersFor(root, set.lead)...)
		}
		l := c.load(ctx, st, set)
		refusals = append(refusals, l.refusals...)
		parts = append(parts, fmt.Sprintf("%p", l))
		j.bench = append(j.bench, &seat{cluster: admission.NewCluster(admission.ClusterOptions{}, layers...), set: l.set})
		for _, layer := range layers {
			parts = append(parts, fmt.Sprintf("%p", layer))
		}
	}
	return c.shared(strings.Join(parts, " "), j), refusals
}

// shared returns the judge known by key, else completes j and remembers it.
func (c *court) shared(key string, j *judge) *judge {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.judges[key]; ok {
		return known
	}
	for _, s := range j.bench {
		s.engine = policy.NewEngine(s.cluster, c.compiler, s.set)
	}
	j.cluster = j.bench[0].cluster
	c.judges[key] = j
	return j
}

// load has the API server's checks done on a set of policies, once.
func (c *court) load(ctx context.Context, st *state, set policySet) *loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.loaded {
		if slices.Equal(l.objects, set.objects) {
			return l
		}
	}
	l := &loaded{objects: set.objects}
	l.set, l.refusals = policy.Load(ctx, st.cluster, c.target.user, set.objects)
	c.loaded = append(c.loaded, l)
	return l
}
