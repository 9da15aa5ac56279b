package scanner

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// finish puts the report in order and counts.
func (s *scan) finish() {
	for _, f := range s.findings {
		s.report.Findings = append(s.report.Findings, f.Finding)
	}
	for _, u := range s.unjudged {
		s.report.Indeterminate = append(s.report.Indeterminate, u.Indeterminate)
	}
	s.conceal()
	s.report.Sort()
	s.report.Findings = compactEqual(s.report.Findings)
	s.report.Indeterminate = compactEqual(s.report.Indeterminate)
	s.report.Diagnostics = compactEqual(s.report.Diagnostics)
	report.SetFingerprints(s.report.Findings)
	for i := range s.report.Findings {
		s.hashLine(&s.report.Findings[i].Location)
	}
	s.report.Summary.Policies = len(s.policies)
	s.report.Summary.Findings = countFindings(s.report.Findings)
}

// compactEqual drops repeats: what several targets say alike is said once.
func compactEqual[T any](list []T) []T {
	return slices.CompactFunc(list, func(a, b T) bool { return reflect.DeepEqual(a, b) })
}

func countFindings(findings []report.Finding) map[report.Action]map[report.Status]int {
	counts := map[report.Action]map[report.Status]int{}
	for _, f := range findings {
		if counts[f.Action] == nil {
			counts[f.Action] = map[report.Status]int{}
		}
		counts[f.Action][f.Status]++
	}
	return counts
}

// locateFinding locates a finding about an object and adds the lines around it.
func (s *scan) locateFinding(ctx context.Context, f *found) {
	if f.located {
		s.locator.addSnippet(&f.Location, s.Head, f.Location.Path, false)
		return
	}
	f.Object = objectOf(f.object, f.key)
	f.Definition = s.locator.definition(ctx, f)
	var err error
	if f.turns {
		f.Location, err = s.locator.locateValidation(ctx, f)
	} else {
		f.Location, err = s.locator.locateRefusal(ctx, f)
	}
	if err != nil {
		s.noteUnlocated(f.Root, err)
	}
}

// definition is where the policy of a finding is written; nil when there is none, or it
// is not known where.
func (l *locator) definition(ctx context.Context, f *found) *report.Definition {
	if f.policy == nil {
		return nil
	}
	source, err := l.source(ctx, f.policy)
	if err != nil {
		return nil
	}
	at := source.Document()
	if f.Validation != nil {
		at = source.Place(fmt.Sprintf("spec.validations[%d].expression", *f.Validation), origin.Whole).Position
	}
	return &report.Definition{Path: change.OriginOf(f.policy).Side.Path(at.Path), StartLine: at.Line}
}

func (s *scan) locateUnjudged(ctx context.Context, u *unjudged) {
	u.Object = objectOf(u.object, u.key)
	loc, err := s.locator.locate(ctx, u.object, nil)
	if err != nil {
		s.noteUnlocated(u.Root, err)
	}
	u.Location = &loc
}

// locateRemark makes a located diagnostic of a warning.
func (s *scan) locateRemark(ctx context.Context, f *found) {
	s.locateFinding(ctx, f)
	s.diagnose(report.Diagnostic{
		Severity: "warning", Root: f.Root, Location: &f.Location,
		Message: f.key.String() + ": " + f.Message,
	})
}

func (s *scan) noteUnlocated(root string, err error) {
	s.diagnose(report.Diagnostic{Severity: "warning", Root: root, Message: "the lines of findings here are not known: " + err.Error()})
}
