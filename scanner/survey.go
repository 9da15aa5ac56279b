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

// Survey is a tree that was rendered into the states of its clusters and not
// judged: what tools that look at policies themselves work on.
type Survey struct {
	// Clusters are those of the configuration, or the one of all roots.
	Clusters []Surveyed
	// Roots counts the roots; Broken are the findings about those that do not
	// render, located, of CauseRender.
	Roots         report.RootCounts
	Broken        []report.Finding
	Indeterminate []report.Indeterminate
	Diagnostics   []report.Diagnostic

	scan *scan
}

// Surveyed is one cluster of a survey.
type Surveyed struct {
	// Target is its name, empty when none is configured.
	Target string
	// State is what the cluster holds, Server the API server with that state and Loaded,
	// which are the policies as it accepts them.
	State  *admission.Cluster
	Server *server.Server
	Loaded *server.Loaded
	// User applies the objects, as configured.
	User user.Info
	// Policies are all versions of all policies and bindings, in the order of their
	// keys: of the roots, of what was given, and of what can be rendered of roots
	// that do not render as a whole.
	Policies []*admission.Object
}

// NewSurvey renders the head of a change. The base is not looked at. The error is
// that of Scan.
func NewSurvey(ctx context.Context, in Input) (*Survey, error) {
	in.Base = nil
	s := newScan(in)
	s.everything = true  // what is missing is reported
	s.directories = true // policies are looked at as they are written, deployed or not
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

// brokenRoots are the roots of the head that do not render, whatever the reason.
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
			if o.Name() == "" { // which has no key, and that may be the mistake
				c.Policies = append(c.Policies, o)
			}
		}
	}
	c.Policies = append(c.Policies, parts...)
	c.Loaded = b.Load(ctx, c.State, c.Policies)
	c.Server = b.Server(server.View{Cluster: c.State, Policies: c.Loaded.Set})
	return c
}

// Complete reports whether all roots rendered, so that what was not found is not in
// the tree.
func (s *Survey) Complete() bool {
	return len(s.scan.brokenRoots()) == 0
}

// Under reports whether an object of the tree is at or below dir: its root is at or below this
// directory, or its document is in the directory or is the file dir.
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

// Root is the path of the root an object was rendered from.
func (s *Survey) Root(o *admission.Object) string { return change.OriginOf(o).Root.Dir }

// Locate returns the line of the first of fields that was written, else of the first
// one's nearest ancestor; without fields the object's document. What cannot be
// found at all is located at the object's root.
func (s *Survey) Locate(ctx context.Context, o *admission.Object, fields ...string) report.Location {
	loc, _ := s.scan.locator.Place(ctx, o, fields) // an error leaves the root
	return loc
}

// ObjectOf names an object as it will be known in the cluster.
func (c *Surveyed) ObjectOf(o *admission.Object) *report.Object {
	return change.ObjectOf(o, c.State.Key(o))
}

// WarnedField is the field that a warning of the API server is about, "" when it
// names none.
func WarnedField(text string) string { return warnedField(text) }

// HashLine sets the hash of a location's line.
func (s *Survey) HashLine(l *report.Location) { s.scan.locator.HashLine(l) }

// LocateIn returns the place of a line and column, counted from 1 and in code
// points, inside a text field: in YAML block scalars of several lines, too. When
// the place cannot be followed into the file, it is that of the field.
func (s *Survey) LocateIn(ctx context.Context, o *admission.Object, field string, line, column int) report.Location {
	return s.scan.locator.Within(ctx, o, field, line, column)
}
