// Package scanner says what a cluster's API server will say to a change: it
// renders both trees of the change, turns the difference into admission requests,
// has each judged by the offline API server (package admission) and the policies
// (package policy) of the base and of the head, and reports every denial and
// warning on the line it comes from.
//
// A Report is the only result. Scan has no network, no clock but for durations and
// no environment; equal inputs give equal reports.
package scanner

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/parallel"
	"github.com/preadmit/preadmit/scanner/plan"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/target"
)

// Scan judges a change. What is wrong with the change is in the report; the error
// is for a scan that could not be done: an *InputError if the user's input is at
// fault, the context's, or that of a tree that cannot be read.
func Scan(ctx context.Context, in Input) (*report.Report, error) {
	return newScan(in).run(ctx)
}

func (s *scan) run(ctx context.Context) (*report.Report, error) {
	start := time.Now()
	durations := &s.report.Summary.Durations
	for _, stage := range []struct {
		run   func(context.Context) error
		spent *float64
	}{
		{s.discover, &durations.Discover},
		{s.render, &durations.Render},
		{s.judge, &durations.Judge},
		{s.locate, &durations.Locate},
	} {
		begin := time.Now()
		if err := stage.run(ctx); err != nil {
			return nil, err
		}
		*stage.spent = seconds(time.Since(begin))
	}
	if s.in.Diff != nil && s.Base != nil {
		s.report.Changes = new(s.compare(*s.in.Diff))
	}
	s.finish()
	durations.Total = seconds(time.Since(start))
	return s.report, nil
}

func seconds(d time.Duration) float64 { return d.Round(time.Microsecond).Seconds() }

// scan is a scan in progress.
type scan struct {
	in Input
	*change.Change
	extras   []*admission.Object
	targets  []*target.Target
	work     parallel.Workers
	compiler *policy.Compiler
	locator  *lines.Locator

	mu       sync.Mutex
	report   *report.Report
	findings []lines.Finding
	unjudged []unjudged
	remarks  []lines.Finding
	policies map[string]bool
	// everything makes all roots be rendered, whether or not they matter.
	everything bool
}

// plan decides which roots are rendered.
func (s *scan) plan() *plan.Plan {
	return &plan.Plan{
		Change: s.Change, Work: s.work, Extras: s.extras, Given: s.in.Config.GivenPaths(), Everything: s.everything,
	}
}

func newScan(in Input) *scan {
	report := &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		Tool:     report.Tool{Name: "preadmit", Version: in.Version, Kubernetes: admission.KubernetesVersion},
		Change:   report.ChangeInfo{Head: in.Head.Revision},
		Findings: []report.Finding{}, Indeterminate: []report.Indeterminate{}, Diagnostics: []report.Diagnostic{},
	}
	if in.Base != nil {
		report.Change.Base = &in.Base.Revision
	}
	return &scan{
		in: in, report: report, compiler: policy.NewCompiler(),
		policies: map[string]bool{},
		work:     parallel.Workers{Count: in.Workers, Progress: in.Progress},
	}
}

// discover finds the roots of both trees.
func (s *scan) discover(ctx context.Context) (err error) {
	if err := s.checkGlobs(); err != nil {
		return err
	}
	s.work.Report("discover", 0, 1)
	how := change.Options{Under: s.in.Head.Under, Selects: s.inGlobs(), Rendering: s.in.Rendering, Refused: s.in.Refused}
	var base fs.FS
	if s.in.Base != nil {
		base = s.in.Base.FS
	}
	if s.Change, err = change.Open(ctx, base, s.in.Head.FS, s.in.Render, how); err != nil {
		return err
	}
	s.locator = lines.New(s.Change, s.work)
	if s.Base != nil {
		s.keepRoots()
	}
	if err := s.checkSelection(); err != nil {
		return err
	}
	for _, d := range s.Head.Found.Diagnostics {
		if change.Under(s.in.Head.Under, d.Path) {
			s.diagnose(report.Diagnostic{Severity: string(d.Severity), Message: d.Message, Location: new(change.LocationOf(d.Position, change.Head))})
		}
	}
	s.work.Report("discover", 1, 1)
	return nil
}

// inGlobs tells whether the configuration's globs match a directory; nil when there are
// none.
func (s *scan) inGlobs() func(dir string) bool {
	if len(s.in.Config.Roots) == 0 {
		return nil
	}
	return func(dir string) bool { return config.MatchAny(s.in.Config.Roots, dir) }
}

// checkSelection refuses a selection of roots that selects none: a mistyped glob
// must not leave the gate open.
func (s *scan) checkSelection() error {
	if match := s.inGlobs(); match == nil || s.AnyRoot(match) {
		return nil
	}
	return &InputError{What: "roots", Err: fmt.Errorf("%q match no root", s.in.Config.Roots)}
}

func (s *scan) checkGlobs() error {
	globs := slices.Clone(s.in.Config.Roots)
	for _, t := range s.in.Config.Targets {
		globs = append(globs, t.Roots...)
	}
	for _, glob := range globs {
		if err := config.CheckGlob(glob); err != nil {
			return &InputError{What: "roots", Err: err}
		}
	}
	return nil
}

// render renders both trees and what was given beside them, and accounts for every
// root.
func (s *scan) render(ctx context.Context) error {
	if err := s.loadExtras(ctx); err != nil {
		return err
	}
	if err := s.plan().Render(ctx); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	s.accountRoots()
	var err error
	if s.targets, err = target.Build(ctx, s.Change, s.in.Config, s.extras); err != nil {
		return err
	}
	for _, t := range s.targets {
		for _, given := range t.Broken {
			s.noteGivenProblem(given.Path, given.Root)
		}
	}
	s.noteUntargeted()
	return nil
}

// judge puts every request of every target to its judges.
func (s *scan) judge(ctx context.Context) error {
	reviews := []*review{}
	for _, t := range s.targets {
		reviews = append(reviews, s.reviews(ctx, target.NewServers(t, s.compiler))...)
	}
	err := s.work.Each(ctx, "judge", len(reviews), func(ctx context.Context, i int) error {
		if err := reviews[i].run(ctx); err != nil {
			return err
		}
		s.locator.FindFields(reviews[i].out.findings)
		return nil
	})
	if err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	for _, r := range reviews {
		s.collect(r)
	}
	s.accountUnasked()
	s.noteMutations()
	s.noteBindings()
	s.noteRivals()
	return s.judgeParts(ctx)
}

// locate gives findings and what is indeterminate their lines.
func (s *scan) locate(ctx context.Context) error {
	if err := s.locator.Locate(ctx, s.findings); err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	if err := s.locator.Locate(ctx, s.remarks); err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	err := s.work.Each(ctx, "locate", len(s.unjudged), func(ctx context.Context, i int) error {
		s.locateUnjudged(ctx, &s.unjudged[i])
		return nil
	})
	if err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	if err := s.locator.Prove(ctx, s.findings); err != nil {
		return fmt.Errorf("prove locations: %w", err)
	}
	if err := s.locator.Explain(ctx, s.findings); err != nil {
		return fmt.Errorf("explain locations: %w", err)
	}
	for i := range s.findings {
		s.noteUnlocated(s.findings[i].Root, s.findings[i].Unlocated)
	}
	for i := range s.remarks {
		s.noteRemark(&s.remarks[i])
	}
	return nil
}

// locateUnjudged locates what was not judged of an object.
func (s *scan) locateUnjudged(ctx context.Context, u *unjudged) {
	u.Object = change.ObjectOf(u.object, u.key)
	loc, err := s.locator.Place(ctx, u.object, nil)
	s.noteUnlocated(u.Root, err)
	u.Location = &loc
}

// noteRemark makes a diagnostic of a located remark.
func (s *scan) noteRemark(f *lines.Finding) {
	s.noteUnlocated(f.Root, f.Unlocated)
	s.diagnose(report.Diagnostic{
		Severity: "warning", Root: f.Root, Location: &f.Location,
		Message: f.Key.String() + ": " + f.Message,
	})
}

// noteUnlocated says why the lines of a root are not known, if they are not.
func (s *scan) noteUnlocated(root string, err error) {
	if err != nil {
		s.diagnose(report.Diagnostic{Severity: "warning", Root: root, Message: "the lines of findings here are not known: " + err.Error()})
	}
}

func (s *scan) diagnose(d report.Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Diagnostics = append(s.report.Diagnostics, d)
}

// open adds what could not be judged.
func (s *scan) open(i report.Indeterminate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Indeterminate = append(s.report.Indeterminate, i)
}
