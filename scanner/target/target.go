package target

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/policy"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Target is a cluster with its state before and after the change. Without
// configured targets there is one, of all roots: what a root does not define it may
// find in any other.
type Target struct {
	// Name is empty when no targets are configured.
	Name string
	User user.Info
	// Roots are the roots to judge, at base or at head, in order.
	Roots []render.RootID
	// base is nil without a base, and is head when nothing that governs differs.
	Base, Head *State
	// Changed are the governing objects that differ.
	Changed []admission.Key
	// Broken is what the configuration takes policies and context from at head, and does
	// not render.
	Broken []GivenRoot
	// Namespace is where objects live that name none, as configured; empty if it is not.
	Namespace string
	// known are the kinds of which the states have all objects.
	known admission.KnownKinds
}

// Options are those of the target's clusters.
func (t *Target) Options() admission.ClusterOptions {
	opts := admission.ClusterOptions{Namespace: t.Namespace, Known: t.known}
	if t.Base != nil {
		opts.Removed = t.Base.Shared
	}
	return opts
}

// builder makes the targets of a configuration.
type builder struct {
	*change.Change
	config config.Config
	extras []*admission.Object
}

// Build returns the targets of a configuration, or the one of all roots. extras
// are objects beside the trees. Mistakes of the configuration are an *InputError.
func Build(ctx context.Context, c *change.Change, from config.Config, extras []*admission.Object) ([]*Target, error) {
	b := builder{c, from, extras}
	configured := from.Targets
	if len(configured) == 0 {
		configured = []config.Target{{Roots: []string{"**"}}}
	}
	targets := []*Target{}
	for _, c := range configured {
		t, err := b.buildTarget(ctx, c)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (b *builder) buildTarget(ctx context.Context, c config.Target) (*Target, error) {
	paths := slices.Concat(c.Policies, c.Context, b.config.Policies, b.config.Context)
	if err := b.checkGiven(paths); err != nil {
		return nil, err
	}
	t := &Target{Name: c.Name, User: b.userOf(c), Roots: b.targetRoots(c), Namespace: c.Namespace, known: admission.Known(c.Kinds()...)}
	head, err := b.buildState(ctx, b.Head, c, paths)
	if err != nil {
		return nil, err
	}
	t.Head, t.Broken = head.State, head.broken
	sides := []*givenState{head}
	if b.Base != nil {
		base, err := b.buildState(ctx, b.Base, c, paths)
		if err != nil {
			return nil, err
		}
		t.Base = base.State
		sides = append(sides, base)
	}
	govern(sides...)
	if t.Base != nil {
		t.Changed = changedKeys(t.Base, t.Head)
	}
	return t, nil
}

// givenState is a state with the objects beside the roots.
type givenState struct {
	*State
	given  []*admission.Object
	broken []GivenRoot
}

// GivenRoot is a root behind a path from which the configuration takes policies and
// context.
type GivenRoot struct {
	Path string
	Root *change.Rendered
}

// buildState collects the objects of a target in one tree.
func (b *builder) buildState(ctx context.Context, from *change.Side, c config.Target, paths []string) (*givenState, error) {
	roots := []*change.Rendered{}
	for _, root := range from.Found.Roots {
		if r := from.Roots[from.ID(root)]; r != nil && r.Problem == nil && config.MatchAny(c.Roots, root.Dir) {
			roots = append(roots, r)
		}
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
	given = append(given, b.extras...)
	return &givenState{State: newState(from, c.Namespace, roots, given), given: given, broken: broken}, nil
}

// govern finds the governing objects of states that are compared: what is a param
// in one is one in all.
func govern(states ...*givenState) {
	params := map[schema.GroupKind]bool{}
	for _, s := range states {
		for _, r := range s.Roots {
			policy.ParamKinds(params, r.Objects)
		}
		policy.ParamKinds(params, s.given)
	}
	known := contents{}
	for _, s := range states {
		s.govern(params, known, s.given)
	}
}

// checkGiven says which path of the configuration is in neither tree.
func (b *builder) checkGiven(paths []string) error {
	for _, p := range paths {
		if !b.Head.Has(p) && !b.Base.Has(p) {
			return &change.InputError{What: p, Err: fmt.Errorf("the configuration names this path as policies or context: %w", fs.ErrNotExist)}
		}
	}
	return nil
}

// targetRoots are the selected roots of a target, and those it takes policies or
// context from, which are applied to it as well.
func (b *builder) targetRoots(c config.Target) []render.RootID {
	roots := []render.RootID{}
	for _, id := range b.SelectedRoots() {
		given := slices.ContainsFunc(slices.Concat(c.Policies, c.Context), func(dir string) bool { return change.Under(dir, id.Dir) })
		if config.MatchAny(c.Roots, id.Dir) || given {
			roots = append(roots, id)
		}
	}
	return roots
}

// userOf is who applies the objects of a target.
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
