package worker

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/github"
)

// mostListed is how many findings a reply lists if the requested number does not exist.
const mostListed = 50

// savedReport returns the stored report of a scan.
func (t *task) savedReport(ctx context.Context, id string) (*report.Report, error) {
	wire, err := t.w.Queue.Report(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read the report of the scan %s: %w", id, err)
	}
	return report.Read(bytes.NewReader(wire))
}

// explanation returns the n-th finding that the change brings, in the report's order and with all
// details, as Markdown. If there is no such finding, it returns a list of those that exist.
func explanation(r *report.Report, n int, blob string) (string, error) {
	fresh := []report.Finding{}
	for _, f := range r.Findings {
		if f.Status == report.StatusNew {
			fresh = append(fresh, f)
		}
	}
	if n < 1 || n > len(fresh) {
		return listed(fresh, n), nil
	}
	f := fresh[n-1]
	one := *r
	one.Findings, one.Indeterminate, one.Diagnostics, one.Changes = []report.Finding{f}, nil, nil, nil
	var b bytes.Buffer
	err := format.Write(&b, "markdown", &one, format.Options{Blob: blob, Verbose: true, Limit: github.CommentRoom - 200})
	return fmt.Sprintf("Finding %d of %d:\n\n%s", n, len(fresh), b.String()), err
}

// listed returns a numbered list of findings.
func listed(findings []report.Finding, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "There is no finding %d: the change has %d.\n\n", n, len(findings))
	for i, f := range findings[:min(len(findings), mostListed)] {
		what := f.Policy
		if what == "" {
			what = string(f.Cause)
		}
		fmt.Fprintf(&b, "%d. %s %s\n", i+1, escape.CodeSpan(fmt.Sprintf("%.300s:%d", f.Location.Path, f.Location.StartLine)), escape.CodeSpan(fmt.Sprintf("%.300s", what)))
	}
	if left := len(findings) - mostListed; left > 0 {
		fmt.Fprintf(&b, "\nand %d more.\n", left)
	}
	return b.String()
}
