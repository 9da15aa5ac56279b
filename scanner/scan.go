package scanner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/parallel"
	"github.com/preadmit/preadmit/scanner/plan"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/target"
)

// Scan judges a change. Problems of the change are in the report. The error is for a scan that
// could not be done: an *InputError for a mistake in the user's input, the context's error, or the
// error of reading a tree.
func Scan(ctx context.Context, in Input) (*report.Report, error) {
	s := newScan(in)
	_, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	return s.report, nil
}

func (s *scan) run(ctx context.Context) (out outcome, err error) {
	start := time.Now()
	durations := &s.report.Summary.Durations
	for _, stage := range []struct {
		run   func() error
		spent *float64
	}{
		{func() error { return s.discover(ctx) }, &durations.Discover},
		{func() error { return s.render(ctx) }, &durations.Render},
		{func() (err error) { out, err = s.judge(ctx); return err }, &durations.Judge},
		{func() error { return s.locate(ctx, &out) }, &durations.Locate},
	} {
		begin := time.Now()
		if err := stage.run(); err != nil {
			return out, err
		}
		*stage.spent = seconds(time.Since(begin))
	}
	if err := s.ledger.Nothing(s.in.Head.Named, "judge"); err != nil {
		return out, err
	}
	if s.in.Diff != nil && s.Base != nil {
		s.report.Changes = new(diff.Objects(s.Change, s.work, *s.in.Diff))
	}
	s.report.Charts = s.charts(ctx, out.readOf, out.reached)
	if err := s.noteServers(ctx, out.findings); err != nil {
		return out, err
	}
	s.finish(out)
	durations.Total = seconds(time.Since(start))
	return out, nil
}

// scan is the state of a scan.
type scan struct {
	in Input
	*change.Change
	// ledger collects what is not judged.
	ledger *gaps.Ledger
	extras []*admission.Object
	// exported are the extras that describe the content of a cluster (--context).
	exported []*admission.Object
	// whole are the kinds of which the extras have all objects.
	whole    []schema.GroupKind
	targets  []*target.Target
	work     parallel.Workers
	compiler *policy.Compiler
	locator  *lines.Locator
	report   *report.Report
	// everything is set if all roots are rendered, not only those that matter.
	everything bool
	// directories is set if the roots are directories, whatever deploys them.
	directories bool
	// deployment, if not nil, collects what is applied.
	deployment *Deployment
}

// plan returns the plan of which roots are rendered.
func (s *scan) plan() *plan.Plan {
	return &plan.Plan{
		Change: s.Change, Work: s.work, Extras: s.extras, Given: s.in.Config.GivenPaths(), Namespaces: s.in.Config.Namespaces(), Everything: s.everything,
	}
}

func newScan(in Input) *scan {
	report := &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		Tool:     Tool(in.Version),
		Change:   report.ChangeInfo{Head: in.Head.Revision},
		Findings: []report.Finding{}, Indeterminate: []report.Indeterminate{}, Diagnostics: []report.Diagnostic{},
	}
	if in.Base != nil {
		report.Change.Base = &in.Base.Revision
	}
	compiler := policy.NewCompiler()
	compiler.Settled = in.Settled
	if in.Decoded != nil {
		builtin.Share(in.Decoded)
	}
	return &scan{
		in: in, report: report, compiler: compiler,
		work: parallel.Workers{Count: in.Workers, Progress: in.Progress},
	}
}

// renderPlanned renders the roots that the verdicts depend on.
func (s *scan) renderPlanned(ctx context.Context) (err error) {
	p := s.plan()
	if p.Rights, err = target.KnowsRights(s.Change, s.in.Config, s.whole); err != nil {
		return err
	}
	return p.Render(ctx)
}

// render renders both trees and the extras, and records a gap for everything that is not rendered.
func (s *scan) render(ctx context.Context) error {
	if err := s.loadExtras(ctx); err != nil {
		return err
	}
	// Whether several roots have an object of the cluster is known only if all roots are rendered.
	s.everything = s.everything || s.Base != nil && slices.ContainsFunc(s.exported, func(o *admission.Object) bool {
		kind := kinds.Of(o.GroupVersionKind().GroupKind())
		return kind.Effect == kinds.None && !kind.Governs
	})
	if err := s.loadDefinitions(ctx); err != nil {
		return err
	}
	around := target.Around(s.Change, s.in.Config, s.whole)
	if err := cmp.Or(s.KnowKinds(around), s.LookUp(ctx, s.extras, around)); err != nil {
		return err
	}
	if err := s.renderPlanned(ctx); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	s.Suspend()
	s.KeepDefinitions(s.extras)
	s.KeepCreated()
	targets, unclear, err := target.Build(ctx, s.Change, s.in.Config, target.Given{Objects: s.extras, Exported: s.exported}, s.whole)
	if err != nil {
		return err
	}
	s.targets = targets
	s.ledger.Unclear(unclear)
	if err := s.checkReleases(); err != nil {
		return err
	}
	s.ledger.Roots()
	s.ledger.Alone()
	s.ledger.LeftOut()
	s.ledger.Deployers()
	s.ledger.Unclaimed()
	s.ledger.GoneUnits()
	s.ledger.Left()
	s.ledger.Reinstalled()
	s.ledger.Preserved()
	s.ledger.Unapplied()
	s.ledger.LostDependencies()
	s.ledger.Blocked()
	s.ledger.UnusedValues()
	s.ledger.Globs()
	s.ledger.Given(s.targets)
	s.ledger.Untargeted(s.targets)
	s.targets = s.judged()
	return nil
}

// judge decides every request of every target.
func (s *scan) judge(ctx context.Context) (outcome, error) {
	all := outcome{readOf: map[render.RootID]bool{}, rules: policyNames{map[string]bool{}, map[string]string{}}}
	reviews := []*review{}
	for _, t := range s.targets {
		more, err := s.reviews(ctx, target.NewServers(t, s.compiler), &all)
		if err != nil {
			return all, fmt.Errorf("judge: %w", err)
		}
		reviews = append(reviews, more...)
	}
	err := s.work.Each(ctx, "judge", len(reviews), func(ctx context.Context, i int) error {
		defer s.judging(reviews[i])()
		if err := reviews[i].run(ctx); err != nil {
			return err
		}
		s.locator.FindFields(reviews[i].out.findings)
		return nil
	})
	if err != nil {
		return all, fmt.Errorf("judge: %w", err)
	}
	all.objects = map[objectID]bool{}
	for _, r := range reviews {
		all.add(r.out)
		all.reached = all.reached || r.out.reached
		if r.out.read {
			all.readOf[r.Root] = true
		}
		all.objects[idOf(r.Root.String(), change.ObjectOf(r.Object(), r.Key))] = true
	}
	s.ledger.UnrenderedPolicies(all.requests)
	all.webhooks = s.ledger.Webhooks(requestKinds(reviews), s.targets, s.extras)
	s.ledger.Owners(s.targets)
	all.remarks = append(all.remarks, gaps.Bindings(s.targets)...)
	parts, err := s.ledger.Parts(ctx, s.targets)
	all.refused(parts)
	if err != nil {
		return all, err
	}
	all.noPolicies, err = s.noPolicies(ctx, &all)
	return all, err
}

// judging calls Input.Judging for a review.
func (s *scan) judging(r *review) (done func()) {
	if s.in.Judging == nil {
		return func() {}
	}
	return s.in.Judging(fmt.Sprintf("%s %s", r.Operation(), r.Key))
}

// locate finds the lines of findings and gaps.
func (s *scan) locate(ctx context.Context, out *outcome) error {
	out.findings = append(out.findings, s.ledger.Failed...)
	out.findings = append(out.findings, s.forbidden(ctx)...)
	for _, g := range out.gaps {
		s.ledger.Add(g)
	}
	if err := s.ledger.Locate(ctx, s.locator, out.findings, out.remarks); err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	if err := s.locator.Prove(ctx, out.findings); err != nil {
		return fmt.Errorf("prove locations: %w", err)
	}
	return nil
}

func seconds(d time.Duration) float64 { return d.Round(time.Microsecond).Seconds() }
