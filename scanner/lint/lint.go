// Package lint looks at ValidatingAdmissionPolicies and their bindings themselves:
// what the API server would refuse, what its type checker warns of, and what can
// never do what it seems to. It works on the same rendered trees as a scan, and
// asks the API server's own code where that has an answer.
package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Input is what lint works on.
type Input struct {
	// Scan is the tree, its configuration and what was given beside it. Its base is
	// not looked at. Extra objects count as there, and are not linted.
	Scan scanner.Input
	// Under restricts lint to what is written in this directory or file of the tree,
	// or is rendered by roots at or below it. Empty means everything.
	Under string
	// Author creates the policies and bindings. Nil leaves out whether the author may.
	Author *config.User
	// Disable names rules to switch off.
	Disable []string
}

// Run looks at all policies and bindings of a tree. The error is that of
// scanner.Scan.
func Run(ctx context.Context, in Input) (*report.LintReport, error) {
	survey, err := scanner.NewSurvey(ctx, in.Scan)
	if err != nil {
		return nil, err
	}
	l := &linter{in: in, survey: survey, report: newReport(in, survey)}
	for _, f := range survey.Broken {
		l.broken(f)
	}
	for i := range survey.Clusters {
		if err := l.cluster(ctx, &survey.Clusters[i]); err != nil {
			return nil, fmt.Errorf("lint: %w", err)
		}
	}
	l.finish()
	return l.report, nil
}

func newReport(in Input, survey *scanner.Survey) *report.LintReport {
	return &report.LintReport{
		APIVersion: report.APIVersion, Kind: report.LintKind,
		Tool:     report.Tool{Name: "preadmit", Version: in.Scan.Version, Kubernetes: admission.KubernetesVersion},
		Tree:     in.Scan.Head.Revision,
		Findings: []report.LintFinding{}, Indeterminate: slices.Clone(survey.Indeterminate),
		Diagnostics: slices.Clone(survey.Diagnostics),
		Summary:     report.LintSummary{Roots: survey.Roots, Findings: map[report.Severity]int{}, Disabled: disabled(in)},
	}
}

func disabled(in Input) []string {
	ids := append([]string{}, in.Disable...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// linter is a run in progress.
type linter struct {
	in     Input
	survey *scanner.Survey
	report *report.LintReport
	// looked are the objects that were looked at, of all targets.
	looked map[*admission.Object]bool
}

// broken reports a root that does not render: as a finding if the file at fault has
// to do with policies, else as what could not be looked at.
func (l *linter) broken(f report.Finding) {
	if !kinds.FileMentionsPolicy(l.in.Scan.Head.FS, f.Location.Path) || slices.Contains(l.in.Disable, report.RuleRender) {
		l.report.Indeterminate = append(l.report.Indeterminate, report.Indeterminate{
			What: "root", Why: f.Message, Root: f.Root, Location: &f.Location,
		})
		return
	}
	l.report.Findings = append(l.report.Findings, report.LintFinding{
		Rule: report.RuleRender, Severity: report.SeverityError, Message: f.Message, Root: f.Root, Location: f.Location,
		Hint: "policies and all else in this root are unknown until it renders",
	})
}

// cluster looks at the policies and bindings of one cluster.
func (l *linter) cluster(ctx context.Context, of *scanner.Surveyed) error {
	c := newCluster(ctx, l.survey, of, l.in.Under)
	l.count(c)
	for _, check := range []func(context.Context, *cluster){
		checkRefused, checkServed, checkTypes, checkBound, checkParams, checkNamespaces, checkMatching,
		checkBindingsMatch, checkExpressions,
	} {
		check(ctx, c)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := l.checkAccess(ctx, c); err != nil {
		return err
	}
	for _, r := range c.remarks {
		if !slices.Contains(l.in.Disable, r.rule) {
			l.report.Findings = append(l.report.Findings, c.finding(ctx, r))
		}
	}
	return ctx.Err()
}

// count notes what was looked at, once for all targets.
func (l *linter) count(c *cluster) {
	if l.looked == nil {
		l.looked = map[*admission.Object]bool{}
	}
	for _, o := range c.linted {
		if l.looked[o] {
			continue
		}
		l.looked[o] = true
		if isBinding(o) {
			l.report.Summary.Bindings++
		} else {
			l.report.Summary.Policies++
		}
	}
}

// checkAccess asks whether the author may read the params.
func (l *linter) checkAccess(ctx context.Context, c *cluster) error {
	if l.in.Author == nil {
		return nil
	}
	author := &user.DefaultInfo{Name: l.in.Author.Name, Groups: l.in.Author.Groups}
	err := checkAccess(ctx, c, author)
	if !errors.Is(err, admission.ErrNoRBAC) {
		return err
	}
	l.report.Indeterminate = append(l.report.Indeterminate, report.Indeterminate{
		What: "policy", Why: fmt.Sprintf("whether %s may read params is not known: there are no RBAC objects; "+
			"add ClusterRoles and their bindings to the repository or give them with --context", author.Name),
	})
	return nil
}
