package action

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/workflow"
	"github.com/preadmit/preadmit/report/github"
)

// maxSummary is the largest summary of a step, in bytes. GitHub does not show summaries larger
// than 1 MiB.
const maxSummary = 1<<20 - 1<<10

// writeFiles writes the report for later steps, as JSON and SARIF.
func (a *run) writeFiles(r *report.Report, sarif []byte) error {
	err := cli.WriteFile(a.reportFile(), func(w io.Writer) error { return format.Write(w, "json", r, format.Options{}) })
	if err == nil {
		err = cli.WriteFile(a.sarifFile(), func(w io.Writer) error {
			_, err := w.Write(sarif)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("write the reports: %w", err)
	}
	return nil
}

func (a *run) reportFile() string { return filepath.Join(a.dir, "report.json") }
func (a *run) sarifFile() string  { return filepath.Join(a.dir, "preadmit.sarif") }

// sarif returns the report for code scanning. On a branch it has all findings, not only those
// of a push, since code scanning considers alerts that are not in the report as fixed.
func (a *run) sarif(ctx context.Context, r *report.Report, c *scan.Change) ([]byte, error) {
	if a.trigger.baseline && a.flags.sarif && c.Base != nil {
		all, _, err := scan.Judge(ctx, a.p, a.flags.scan, &scan.Change{Head: c.Head, Remotes: c.Remotes}, a.extras)
		if err != nil {
			return nil, fmt.Errorf("judge everything for code scanning: %w", err)
		}
		r = all
	}
	var b bytes.Buffer
	err := format.Write(&b, "sarif", r, format.Options{})
	return b.Bytes(), err
}

// writeSummary appends the report to the summary of the step.
func (a *run) writeSummary(r *report.Report) error {
	if a.runner.summary == "" {
		return nil
	}
	notes := a.publish.NotesText()
	text, err := github.Markdown(r, a.blob(), a.flags.scan.Existing, maxSummary-len(notes)-sizeOf(a.runner.summary))
	if err != nil {
		return err
	}
	return appendTo(a.runner.summary, "summary", text+notes+"\n")
}

func sizeOf(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return int(info.Size())
}

func appendTo(path, what, text string) error {
	if err := cli.AppendFile(path, text); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// writeCommands writes notices, and annotates the run unless a check run has the annotations.
func (a *run) writeCommands(r *report.Report) error {
	for _, n := range a.publish.Notes() {
		if _, err := fmt.Fprintln(a.p.Stdout, workflow.Notice(n)); err != nil {
			return fmt.Errorf("write notices: %w", err)
		}
	}
	if a.publish.Annotated() || r == nil {
		return nil
	}
	return format.Write(a.p.Stdout, "github", r, format.Options{Files: a.files, Existing: a.flags.scan.Existing})
}

// writeOutputs writes the outputs of the step.
func (a *run) writeOutputs(r *report.Report) error {
	if a.runner.output == "" {
		return nil
	}
	existing := a.flags.scan.Existing
	var b strings.Builder
	for _, o := range []struct{ name, value string }{
		{"report", a.reportFile()},
		{"sarif", a.sarifFile()},
		{"denied", fmt.Sprint(counted(r, report.ActionDeny, existing))},
		{"warned", fmt.Sprint(counted(r, report.ActionWarn, existing))},
		{"conclusion", string(github.Conclude(r, a.failOn, existing))},
	} {
		end := rand.Text() // random, so that no value can contain the delimiter
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.name, end, o.value, end)
	}
	return appendTo(a.runner.output, "outputs", b.String())
}

// counted returns the number of new findings with an action, with existing also those that the
// base has.
func counted(r *report.Report, action report.Action, existing bool) int {
	byStatus := r.Summary.Findings[action]
	n := byStatus[report.StatusNew]
	if existing {
		n += byStatus[report.StatusExisting]
	}
	return n
}
