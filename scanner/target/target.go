package target

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
	"github.com/preadmit/preadmit/scanner/release"
)

// Target is a cluster with its state before and after the change. Without configured targets there is
// one of all roots: a root sees the objects of all others.
type Target struct {
	// Name is empty when no targets are configured.
	Name string
	// Cluster is the cluster of an entry point of a deployer; empty for roots whose cluster is not
	// known.
	Cluster string
	// User makes the requests if the deployer of a root names no user, or if userSet is set: User is
	// configured.
	User    user.Info
	userSet bool
	// Roots are the roots to judge, at base or at head, in order.
	Roots []render.RootID
	// Base is nil without a base.
	Base, Head *State
	// Changed are the governing objects that differ.
	Changed []admission.Key
	// Broken are the configured policies and context that do not render at head.
	Broken []GivenRoot
	// Namespace is the configured namespace of objects that name none; empty if none is configured.
	Namespace string
	// known are the kinds of which the states have all objects.
	known kinds.Complete
	// applier applies the objects that no deployer of the repository applies; empty if it is not
	// configured.
	applier apply.Applier
	// nodePorts is the range of node ports, nil for the default.
	nodePorts *utilnet.PortRange
	// exported are the known objects of the cluster that roots of the trees have too, by their keys.
	exported map[admission.Key]*admission.Object
	// creations are the prepared creations of policies, shared by the clusters of the target.
	creations admission.PolicyCreations
	// Release is the release of the target's API server.
	Release release.Release
}

// Options returns the options of the target's clusters.
func (t *Target) Options() admission.ClusterOptions {
	opts := admission.ClusterOptions{Namespace: t.Namespace, Known: t.known, NodePorts: t.nodePorts, Policies: &t.creations}
	if t.Base != nil {
		opts.Removed = t.Base.Shared // objects that remain are in the head's state
	}
	return opts
}

// naming returns the options of the clusters that the states use to find the keys of objects.
func (t *Target) naming() admission.ClusterOptions {
	return admission.ClusterOptions{Namespace: t.Namespace, Policies: &t.creations}
}

// builder makes the targets of a configuration.
type builder struct {
	*change.Change
	config config.Config
	given  Given
	// whole are the kinds of which all objects are given.
	whole []schema.GroupKind
}

// Build returns the targets of a configuration, or the one of all roots. whole are the kinds of which
// all objects are given beside the trees. Mistakes in the configuration are an *InputError. unclear
// are the keys of exported objects that several roots have.
func Build(ctx context.Context, c *change.Change, from config.Config, given Given, whole []schema.GroupKind) (targets []*Target, unclear []admission.Key, err error) {
	b := builder{c, from, given, whole}
	configured := from.Targets
	if len(configured) == 0 {
		configured = []config.Target{{Roots: []string{"**"}}}
	}
	for _, one := range configured {
		for _, cluster := range b.clustersOf(one) {
			t, err := b.buildTarget(ctx, one, cluster)
			if err != nil {
				return nil, nil, err
			}
			targets = append(targets, t)
		}
	}
	unclear = settle(targets)
	for _, t := range targets {
		t.applyOverExported(ctx)
	}
	return targets, unclear, nil
}

// clustersOf returns the clusters that a configured target stands for: each cluster of an entry point
// to which its roots belong, and "" for roots whose cluster is not known.
func (b *builder) clustersOf(c config.Target) []string {
	clusters := []string{}
	for _, id := range b.SelectedRoots() {
		if config.Chooses(c.Roots, change.NamesOf(id)...) {
			clusters = append(clusters, b.ClustersOf(id)...)
		}
	}
	slices.Sort(clusters)
	if clusters = slices.Compact(clusters); len(clusters) == 0 {
		return []string{""}
	}
	return clusters
}

// isIn reports whether a root belongs to a cluster of a target.
func (b *builder) isIn(c config.Target, cluster string, id render.RootID) bool {
	return config.Chooses(c.Roots, change.NamesOf(id)...) && slices.Contains(b.ClustersOf(id), cluster)
}

// isOn reports whether a root belongs to a cluster of a target on one side.
func (b *builder) isOn(s *change.Side, c config.Target, cluster string, id render.RootID) bool {
	return config.Chooses(c.Roots, change.NamesOf(id)...) && slices.Contains(b.ClustersOn(s, id), cluster)
}

func (b *builder) buildTarget(ctx context.Context, c config.Target, cluster string) (*Target, error) {
	paths := slices.Concat(c.Policies, c.Context, b.config.Policies, b.config.Context)
	if err := b.checkGiven(paths); err != nil {
		return nil, err
	}
	complete, err := b.complete(c)
	if err != nil {
		return nil, err
	}
	served, err := b.config.ReleaseOf(&c)
	if err != nil {
		return nil, &change.InputError{What: "kubernetesVersion", Err: err}
	}
	t := &Target{Name: c.Name, Cluster: cluster, Release: served, User: b.userOf(c), userSet: c.User != nil || b.config.User != nil, Roots: b.targetRoots(c, cluster), Namespace: c.Namespace, known: kinds.CompleteOf(complete...), applier: apply.Applier(b.config.Applier), nodePorts: b.config.NodePorts()}
	head, err := b.buildState(ctx, b.Head, c, t, paths)
	if err != nil {
		return nil, err
	}
	t.Head, t.Broken = head.State, head.broken
	sides := []*State{head.State}
	if b.Base != nil {
		base, err := b.buildState(ctx, b.Base, c, t, paths)
		if err != nil {
			return nil, err
		}
		t.Base = base.State
		sides = append(sides, base.State)
	}
	govern(sides...)
	if t.Base != nil {
		t.Changed = changedKeys(t.Base, t.Head)
	}
	t.exported, err = b.exported(ctx, t, c)
	return t, err
}

// givenState is a state, and the given roots that do not render.
type givenState struct {
	*State
	broken []GivenRoot
}

// GivenRoot is a root at a path from which the configuration takes policies and context.
type GivenRoot struct {
	Path string
	Root *change.Rendered
}

// buildState collects the objects of a target in one tree.
func (b *builder) buildState(ctx context.Context, from *change.Side, c config.Target, t *Target, paths []string) (*givenState, error) {
	roots := []*change.Rendered{}
	for _, root := range from.Found.Roots {
		if r := from.Roots[from.ID(root)]; r != nil && r.Problem == nil && b.isOn(from, c, t.Cluster, r.ID) {
			roots = append(roots, r)
		}
	}
	if from == b.Head && b.Base != nil {
		roots = append(roots, b.left(c, t.Cluster)...)
	}
	given, broken := []*admission.Object{}, []GivenRoot{}
	for _, p := range paths {
		results, err := from.RenderGiven(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			given = append(given, r.Objects...)
			if r.Problem != nil {
				broken = append(broken, GivenRoot{Path: p, Root: r})
			}
		}
	}
	given = append(given, b.given.Objects...)
	return &givenState{State: newState(from, t.naming(), roots, given), broken: broken}, nil
}

// left returns the roots of the base with their objects that stay in the cluster although the head
// does not have them.
func (b *builder) left(c config.Target, cluster string) []*change.Rendered {
	var roots []*change.Rendered
	for _, root := range b.Base.Found.Roots {
		id := b.Base.ID(root)
		if objects := b.Left(id); len(objects) > 0 && b.isOn(b.Base, c, cluster, id) {
			roots = append(roots, &change.Rendered{Result: b.Base.Roots[id].Result, ID: id, Objects: objects})
		}
	}
	return roots
}

// govern finds the governing objects of states that are compared: a kind of params in one is a kind
// of params in all.
func govern(states ...*State) {
	params := map[schema.GroupKind]bool{}
	for _, s := range states {
		for _, r := range s.Roots {
			written.ParamKinds(params, r.Objects)
		}
		written.ParamKinds(params, s.given)
	}
	known := contents{}
	for _, s := range states {
		s.govern(params, known)
	}
}

// checkGiven returns an error for a configured path that is in neither tree.
func (b *builder) checkGiven(paths []string) error {
	for _, p := range paths {
		if !b.Head.Has(p) && !b.Base.Has(p) {
			return &change.InputError{Err: b.config.Missing(p, "policies", "context")}
		}
	}
	return nil
}

// targetRoots returns the selected roots of a target, and those that its policies and context come
// from, which are applied to it as well.
func (b *builder) targetRoots(c config.Target, cluster string) []render.RootID {
	roots := []render.RootID{}
	for _, id := range b.SelectedRoots() {
		given := slices.ContainsFunc(slices.Concat(c.Policies, c.Context), func(dir string) bool { return change.Under(dir, id.Dir) })
		if b.isIn(c, cluster, id) || given && slices.Contains(b.ClustersOf(id), cluster) {
			roots = append(roots, id)
		}
	}
	return roots
}

// userOf returns the user who applies the objects of a target.
func (b *builder) userOf(c config.Target) user.Info {
	u := config.DefaultUser()
	switch {
	case c.User != nil:
		u = *c.User
	case b.config.User != nil:
		u = *b.config.User
	}
	return &user.DefaultInfo{Name: u.Name, Groups: u.Groups}
}
