package action

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/github"
)

// maxReport is the largest report of another run, in bytes. A pull request may control its
// content.
const maxReport = 64 << 20

// republish publishes a report that a run without permissions wrote for a pull request. The
// pull request is the one with the head commit in GitHub's event. The report itself is not
// trusted: the pull request may have changed the workflow of the run.
func (a *run) republish(ctx context.Context) error {
	r, err := readReport(a.flags.from)
	if err != nil {
		return err
	}
	t := a.trigger
	if t.pull, err = a.source.pullWithHead(ctx, t.headSHA); err != nil {
		return err
	}
	t.ref = fmt.Sprintf("refs/pull/%d/head", t.pull)
	if a.failOn, err = a.trustedFailOn(ctx); err != nil {
		return err
	}
	a.publish.connect()
	a.publish.judged = true
	a.publish.Start(ctx)
	sarif, err := a.sarif(ctx, r, &scan.Change{})
	if err != nil {
		return err
	}
	if err := a.writeFiles(r, sarif); err != nil {
		return err
	}
	opts := github.CheckOptions{FailOn: a.failOn, Existing: a.flags.scan.Existing}
	if err := a.publish.report(ctx, r, opts, sarif); err != nil {
		return err
	}
	if err := a.writeSummary(r); err != nil {
		return err
	}
	if err := a.writeCommands(nil); err != nil {
		return err
	}
	if err := a.writeOutputs(r); err != nil {
		return err
	}
	return a.publish.failure()
}

// trustedFailOn returns failOn from the flags and the configuration of the default branch, on
// which workflow_run runs.
func (a *run) trustedFailOn(ctx context.Context) (string, error) {
	commit, err := a.source.commit(ctx, a.runner.sha)
	if err != nil {
		return "", err
	}
	config, _, err := scan.LoadConfig(a.flags.scan, &scan.Change{Head: a.tree(commit, a.runner.ref)})
	return config.FailOn, err
}

func readReport(path string) (*report.Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("--from: %w", err)
	}
	defer func() { _ = file.Close() }() // an error does not matter after reading
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, cli.Usagef("--from: %w", err)
	case info.Size() > maxReport:
		return nil, cli.Usagef("--from: %s has more than %d bytes", path, maxReport)
	}
	r, err := report.Read(io.LimitReader(file, maxReport))
	if err != nil {
		return nil, cli.Usagef("--from: %s: %w", path, err)
	}
	return r, nil
}
