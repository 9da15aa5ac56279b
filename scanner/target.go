package scanner

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/policy"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
)

// target is a cluster with its state before and after the change. Without
// configured targets there is one, of all roots: what a root does not define it may
// find in any other.
type target struct {
	// name is empty when no targets are configured.
	name string
	user user.Info
	// roots are the roots to judge, at base or at head, in order.
	roots []render.RootID
	// base is nil without a base, and is head when nothing that governs differs.
	base, head *state
	// changed are the governing objects that differ.
	changed []admission.Key
}

// buildTargets makes the targets of the configuration, or the one of all roots.
func (s *scan) buildTargets(ctx context.Context) error {
	configured := s.in.Config.Targets
	if len(configured) == 0 {
		configured = []config.Target{{Roots: []string{"**"}}}
	}
	for _, c := range configured {
		t, err := s.buildTarget(ctx, c)
		if err != nil {
			return err
		}
		s.targets = append(s.targets, t)
	}
	s.noteUntargeted()
	return nil
}

func (s *scan) buildTarget(ctx context.Context, c config.Target) (*target, error) {
	paths := slices.Concat(c.Policies, c.Context, s.in.Config.Policies, s.in.Config.Context)
	if err := s.checkGiven(paths); err != nil {
		return nil, err
	}
	t := &target{name: c.Name, user: s.userOf(c), roots: s.targetRoots(c)}
	head, err := s.buildState(ctx, s.Head, c, paths)
	if err != nil {
		return nil, err
	}
	t.head = head.state
	sides := []*givenState{head}
	if s.Base != nil {
		base, err := s.buildState(ctx, s.Base, c, paths)
		if err != nil {
			return nil, err
		}
		t.base = base.state
		sides = append(sides, base)
	}
	govern(sides...)
	if t.base != nil {
		t.changed = changedKeys(t.base, t.head)
	}
	return t, nil
}

// givenState is a state with the objects beside the roots.
type givenState struct {
	*state
	given []*admission.Object
}

// buildState collects the objects of a target in one tree.
func (s *scan) buildState(ctx context.Context, from *change.Side, c config.Target, paths []string) (*givenState, error) {
	roots := []*change.Rendered{}
	for _, root := range from.Found.Roots {
		if r := from.Roots[from.ID(root)]; r != nil && r.Problem == nil && config.MatchAny(c.Roots, root.Dir) {
			roots = append(roots, r)
		}
	}
	given := []*admission.Object{}
	for _, p := range paths {
		results, err := from.RenderGiven(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			given = append(given, r.Objects...)
			s.noteGivenProblem(from, p, r)
		}
	}
	given = append(given, s.extras...)
	return &givenState{state: newState(from, roots, given), given: given}, nil
}

// govern finds the governing objects of states that are compared: what is a param
// in one is one in all.
func govern(states ...*givenState) {
	params := map[schema.GroupKind]bool{}
	for _, s := range states {
		for _, r := range s.roots {
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
func (s *scan) checkGiven(paths []string) error {
	for _, p := range paths {
		if !s.Head.Has(p) && !s.Base.Has(p) {
			return &InputError{What: p, Err: fmt.Errorf("the configuration names this path as policies or context: %w", fs.ErrNotExist)}
		}
	}
	return nil
}

// noteGivenProblem reports policies or context of the configuration that do not
// render, unless they are roots of the scan and reported as such.
func (s *scan) noteGivenProblem(from *change.Side, given string, r *change.Rendered) {
	if r.Problem == nil || from != s.Head {
		return
	}
	if root, ok := from.Root(r.Root.RootID); ok && change.SameRoot(root, r.Root) && s.Selected(root.Dir) {
		return
	}
	s.open(report.Indeterminate{
		What: "policy", Root: r.Root.Dir, Location: new(change.LocationOf(r.Problem.Position, change.Head)),
		Why: fmt.Sprintf("the policies and context in %s do not render: %s", given, r.Problem.Message),
	})
}

// targetRoots are the selected roots of a target, and those it takes policies or
// context from, which are applied to it as well.
func (s *scan) targetRoots(c config.Target) []render.RootID {
	roots := []render.RootID{}
	for _, id := range s.SelectedRoots() {
		given := slices.ContainsFunc(slices.Concat(c.Policies, c.Context), func(dir string) bool { return change.Under(dir, id.Dir) })
		if config.MatchAny(c.Roots, id.Dir) || given {
			roots = append(roots, id)
		}
	}
	return roots
}

// userOf is who applies the objects of a target.
func (s *scan) userOf(c config.Target) user.Info {
	u := config.DefaultUser()
	switch {
	case c.User != nil:
		u = *c.User
	case s.in.Config.User != nil:
		u = *s.in.Config.User
	}
	return &user.DefaultInfo{Name: u.Name, Groups: u.Groups}
}

// noteUntargeted tells of roots that no target of the configuration has.
func (s *scan) noteUntargeted() {
	if len(s.in.Config.Targets) == 0 {
		return
	}
	targeted := map[render.RootID]bool{}
	for _, t := range s.targets {
		for _, root := range t.roots {
			targeted[root] = true
		}
	}
	var left []string
	for _, id := range s.SelectedRoots() {
		if !targeted[id] {
			left = append(left, id.String())
		}
	}
	if len(left) == 0 {
		return
	}
	s.diagnose(report.Diagnostic{
		Severity: "warning",
		Message: fmt.Sprintf("%d roots belong to no target of %s and are not judged: %s",
			len(left), config.FileName, abbreviate(left)),
	})
}

// abbreviate lists names, the first few if there are many.
func abbreviate(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
