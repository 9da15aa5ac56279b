package scanner

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/explain"
	"github.com/preadmit/preadmit/scanner/lines"
)

// Explain scans a change and explains the finding with a fingerprint; it returns nil if there is
// none.
func Explain(ctx context.Context, in Input, fingerprint string) (*report.ExplainReport, error) {
	s := newScan(in)
	of, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	r := s.report
	i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Fingerprint == fingerprint })
	if i < 0 {
		return nil, nil
	}
	f := &r.Findings[i]
	found := slices.IndexFunc(of.findings, func(other lines.Finding) bool { return isSame(f, &other.Finding) })
	if found < 0 || of.findings[found].Request == nil {
		return nil, &InputError{What: "finding " + fingerprint, Err: fmt.Errorf("it is about no request: %s", f.Message)}
	}
	about := &of.findings[found]
	opts := explain.Options{Policy: f.Policy, Binding: f.Binding, Types: true}
	if f.Param != nil {
		opts.Param = f.Param.Name
	}
	out, err := explain.Request(ctx, about.Server, *about.Request, opts)
	if err != nil {
		return nil, fmt.Errorf("explain finding %s: %w", fingerprint, err)
	}
	if g := f.Generated; g != nil {
		out.Request.Name, out.Request.GenerateName = g.Name, g.GenerateName
	}
	out.Tool = r.Tool
	return out, nil
}

// isSame reports whether a finding of the report and a finding of the judge stage are the same.
// Their locations may differ, so it does not compare them.
func isSame(f, found *report.Finding) bool {
	object := func(o *report.Object) report.Object {
		if o == nil {
			return report.Object{}
		}
		return *o
	}
	index := func(f *report.Finding) int {
		if f.Validation == nil {
			return -1
		}
		return *f.Validation
	}
	return f.Root == found.Root && f.Operation == found.Operation && f.Cause == found.Cause && f.Status == found.Status &&
		f.Policy == found.Policy && f.Binding == found.Binding && index(f) == index(found) &&
		object(f.Object) == object(found.Object) && object(f.Generated) == object(found.Generated) && f.Message == found.Message
}
