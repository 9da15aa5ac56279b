package jailed

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
)

// maxObjects limits the JSON objects in a report: each may need 1.3 KiB of memory when it is
// decoded, and has three bytes of text. A finding has six or more.
const maxObjects = 200_000

// outcome returns the Outcome of a child's answer, if it matches the request.
func (a *answer) outcome(r *Request, refused []Refusal) (*Outcome, error) {
	if !utf8.Valid(a.report) {
		return nil, fmt.Errorf("%w: a report that is not UTF-8", ErrForged)
	}
	if n := bytes.Count(a.report, []byte("{")); n > maxObjects {
		return nil, fmt.Errorf("%w: a report of %d objects, more than the limit of %d", errTooMuch, n, maxObjects)
	}
	read, err := report.Read(bytes.NewReader(a.report))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrForged, err)
	}
	if err := r.matches(read); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrForged, err)
	}
	if lost := read.Summary.Roots.Lost; lost < len(refused) {
		return nil, fmt.Errorf("%w: a report that misses %d roots, not the %d that were left out", ErrForged, lost, len(refused))
	}
	failOn := a.Answer.FailOn
	if failOn != "" && !slices.Contains(report.FailOnValues(), failOn) {
		return nil, fmt.Errorf("%w: failOn %q", ErrForged, failOn)
	}
	return &Outcome{Report: read, FailOn: failOn}, nil
}

// matches returns an error unless a report belongs to the request.
func (r *Request) matches(read *report.Report) error {
	head := revision(r.Head, r.HeadName)
	if read.Change.Head != head {
		return fmt.Errorf("the report is about %+v, not %+v", read.Change.Head, head)
	}
	if (r.Base == "") != (read.Change.Base == nil) || r.Base != "" && *read.Change.Base != revision(r.Base, r.BaseName) {
		return fmt.Errorf("the report compares with %+v, not with %s", read.Change.Base, r.Base)
	}
	if read.Tool.Version != r.Version {
		return fmt.Errorf("the report is of version %q, not %q", read.Tool.Version, r.Version)
	}
	c, s := read.Summary.Roots, read.Summary
	cov := report.Coverage{}
	if s.Coverage != nil {
		cov = *s.Coverage
	}
	for _, n := range []int{cov.Objects, cov.Exact, cov.Objects - cov.Exact, c.Rendered, c.Failed, c.FailedBefore, c.Indeterminate, c.Lost, c.Untouched, s.Requests, s.Evaluations, s.Policies, s.Bindings} {
		if n < 0 || n > maxCount {
			return fmt.Errorf("the report counts %d", n)
		}
	}
	return nil
}

func revision(commit, name string) report.Revision {
	if name == "" {
		name = commit
	}
	return report.Revision{Name: name, Commit: commit}
}
