package lint

import (
	"cmp"
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

// Input is the input of lint.
type Input struct {
	// Scan has the tree, its configuration and extra objects. Its base is not used. Extra objects
	// are not linted, but other objects can refer to them.
	Scan scanner.Input
	// Under restricts lint to objects that are written in this directory or file of the tree, or
	// rendered by roots at or below it. Empty means no restriction.
	Under string
	// Author creates the policies and bindings. If it is nil, the author's rights are not checked.
	Author *config.User
	// Disable has the rules to switch off.
	Disable []string
}

// Run checks all policies and bindings of a tree. Its errors are those of scanner.Scan.
func Run(ctx context.Context, in Input) (*report.LintReport, error) {
	survey, err := scanner.NewSurvey(ctx, in.Scan)
	if err != nil {
		return nil, err
	}
	l := &linter{in: in, survey: survey, report: newReport(in, survey), counted: map[*admission.Object]bool{}}
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
		Tool:     scanner.Tool(in.Scan.Version),
		Tree:     in.Scan.Head.Revision,
		Findings: []report.LintFinding{}, Indeterminate: slices.Clone(survey.Indeterminate),
		Diagnostics: slices.Clone(survey.Diagnostics),
		Summary:     report.LintSummary{Roots: survey.Roots, Findings: map[report.Severity]int{}, Disabled: disabledRules(in)},
	}
}

// disabledRules returns the rules that are switched off, sorted.
func disabledRules(in Input) []string {
	ids := append([]string{}, in.Disable...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// linter is the state of a run.
type linter struct {
	in     Input
	survey *scanner.Survey
	report *report.LintReport
	// counted are the objects that the summary already counts, of all targets.
	counted map[*admission.Object]bool
}

// broken reports a root that does not render: as a finding if the file at fault mentions policies,
// otherwise as indeterminate.
func (l *linter) broken(f report.Finding) {
	if !kinds.FileMentionsPolicy(l.in.Scan.Head.FS, f.Location.Path) || l.disabled(report.RuleRender) {
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

// cluster checks the policies and bindings of one cluster.
func (l *linter) cluster(ctx context.Context, of *scanner.Surveyed) error {
	c := newCluster(ctx, l.survey, of, l.in.Under)
	if l.in.Author != nil {
		c.author = &user.DefaultInfo{Name: l.in.Author.Name, Groups: l.in.Author.Groups}
	}
	l.count(c)
	for _, r := range rules() {
		c.rule = r.LintRule
		r.check(ctx, c)
		if err := cmp.Or(ctx.Err(), l.accessError(c)); err != nil {
			return err
		}
	}
	for _, r := range c.remarks {
		if !l.disabled(r.rule.ID) {
			l.report.Findings = append(l.report.Findings, c.finding(ctx, r))
		}
	}
	return ctx.Err()
}

func (l *linter) disabled(rule string) bool { return slices.Contains(l.in.Disable, rule) }

// accessError returns the error of a check. Missing RBAC objects are no error: they make the access
// of the author indeterminate.
func (l *linter) accessError(c *cluster) error {
	err := c.err
	c.err = nil
	if !errors.Is(err, admission.ErrNoRBAC) {
		return err
	}
	l.report.Indeterminate = append(l.report.Indeterminate, report.Indeterminate{
		What: "policy", Why: fmt.Sprintf("whether %s may read params is not known: there are no RBAC objects; "+
			"add ClusterRoles and their bindings to the repository or give them with --context", c.author.GetName()),
	})
	return nil
}

// count counts the linted objects, each once for all targets.
func (l *linter) count(c *cluster) {
	for _, o := range c.linted {
		switch {
		case l.counted[o]:
		case isBinding(o):
			l.report.Summary.Bindings++
		default:
			l.report.Summary.Policies++
		}
		l.counted[o] = true
	}
}
