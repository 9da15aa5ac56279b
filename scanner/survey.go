package scanner

import (
	"context"
	"fmt"
	"path"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// Survey is a tree rendered into the states of its clusters, without verdicts, for tools that check
// the policies themselves.
type Survey struct {
	// Clusters are the configured ones, or a single one with all roots.
	Clusters []Surveyed
	// Roots counts the roots. Broken are the located findings, of CauseRender, about roots that do
	// not render.
	Roots         report.RootCounts
	Broken        []report.Finding
	Indeterminate []report.Indeterminate
	Diagnostics   []report.Diagnostic

	scan *scan
}

// Surveyed is one cluster of a survey.
type Surveyed struct {
	// Target is the name of the target, empty if none is configured.
	Target string
	// State holds the objects of the cluster. Loaded are the policies as the API server accepts
	// them, and Server is the API server with State and Loaded.
	State  *admission.Cluster
	Server *server.Server
	Loaded *server.Loaded
	// User is the configured user that applies the objects.
	User user.Info
	// Policies are all versions of all policies and bindings, ordered by key: those of the roots,
	// the given ones, and those rendered from parts of roots that do not render completely.
	Policies []*admission.Object
}

// NewSurvey renders the head of a change. It ignores the base. The errors are those of Scan.
func NewSurvey(ctx context.Context, in Input) (*Survey, error) {
	in.Base = nil
	s := newScan(in)
	s.everything = true  // roots that do not render are reported
	s.directories = true // policies are checked as they are written, deployed or not
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	if err := s.render(ctx); err != nil {
		return nil, err
	}
	parts := s.Head.PoliciesOfParts(ctx, s.brokenRoots())
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("render parts of roots: %w", err)
	}
	var out outcome
	if err := s.locate(ctx, &out); err != nil {
		return nil, err
	}
	s.finish(out)
	survey := &Survey{
		scan: s, Roots: s.report.Summary.Roots, Broken: s.report.Findings,
		Indeterminate: s.report.Indeterminate,
		Diagnostics:   s.report.Diagnostics,
	}
	for _, t := range s.targets {
		survey.Clusters = append(survey.Clusters, surveyed(ctx, t, parts))
	}
	return survey, nil
}

// brokenRoots returns the roots of the head that do not render, whatever the reason.
func (s *scan) brokenRoots() []render.Root {
	var roots []render.Root
	for _, root := range s.Head.Found.Roots {
		if r := s.Head.Roots[root.RootID]; r != nil && r.Problem != nil {
			roots = append(roots, root)
		}
	}
	return roots
}

func surveyed(ctx context.Context, t *target.Target, parts []*admission.Object) Surveyed {
	b := server.NewBuilder(server.Options{ClusterOptions: t.Options(), User: t.User})
	c := Surveyed{Target: t.Name, User: t.User, State: b.Cluster(t.Head.Shared, t.Head.Given, admission.NewIndex(parts))}
	for _, key := range t.Head.PolicyKeys {
		for _, d := range t.Head.Governing[key] {
			c.Policies = append(c.Policies, d.Object)
		}
	}
	for _, r := range t.Head.Roots {
		for _, o := range change.OnlyPolicies(r.Objects) {
			if o.Name() == "" { // without a name it has no key; the missing name may be the mistake
				c.Policies = append(c.Policies, o)
			}
		}
	}
	c.Policies = append(c.Policies, parts...)
	c.Loaded = b.Load(ctx, c.State, c.Policies)
	c.Server = b.Server(server.View{Cluster: c.State, Policies: c.Loaded.Set})
	return c
}

// Complete reports whether all roots rendered, so that an object that was not found is not in the
// tree.
func (s *Survey) Complete() bool {
	return len(s.scan.brokenRoots()) == 0
}

// Under reports whether an object of the tree is at or below dir: its root is at or below dir, or
// its document is in the directory or file dir.
func (s *Survey) Under(ctx context.Context, o *admission.Object, dir string) bool {
	from := change.OriginOf(o)
	if from.Side.Extra {
		return false
	}
	if change.Under(dir, from.Root.Dir) {
		return true
	}
	return change.Under(dir, path.Clean(s.Locate(ctx, o).Path))
}

// Root returns the directory of the root that rendered an object.
func (s *Survey) Root(o *admission.Object) string { return change.OriginOf(o).Root.Dir }

// Locate returns the line of the first written field of fields, or that of the nearest ancestor of
// the first one. Without fields it returns the object's document. If nothing is found, it returns
// the object's root.
func (s *Survey) Locate(ctx context.Context, o *admission.Object, fields ...string) report.Location {
	loc, _ := s.scan.locator.Place(ctx, o, fields) // an error leaves the root
	return loc
}

// ObjectOf returns the identity of an object in the cluster.
func (c *Surveyed) ObjectOf(o *admission.Object) *report.Object {
	return change.ObjectOf(o, c.State.Key(o))
}

// WarnedField returns the field that a warning of the API server is about, "" if it names none.
func WarnedField(text string) string { return warnedField(text) }

// HashLine sets the hash of a location's line.
func (s *Survey) HashLine(l *report.Location) { s.scan.locator.HashLine(l) }

// LocateIn returns the place of a line and column, counted from 1 and in code points, inside a text
// field, including YAML block scalars of several lines. If the place has no counterpart in the
// file, it returns the place of the field.
func (s *Survey) LocateIn(ctx context.Context, o *admission.Object, field string, line, column int) report.Location {
	return s.scan.locator.Within(ctx, o, field, line, column)
}
