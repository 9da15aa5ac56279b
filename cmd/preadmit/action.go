package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/workflow"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/scanner"
)

// actionFlags are the flags of preadmit action: most flags of scan, and those that say
// where the report is published.
type actionFlags struct {
	scan                     *scanFlags
	checkRun, comment, sarif bool
	name                     string
	from                     string
}

func newActionCommand(p Process) *cobra.Command {
	f := &actionFlags{scan: newScanFlags()}
	cmd := &cobra.Command{
		Use:   "action [PATH]",
		Short: "Judge the change that a workflow of GitHub Actions runs for",
		Long: `Judge the change that a workflow of GitHub Actions runs for, and tell it there.

The event says what is compared: of a pull request, its merge commit with that
commit's first parent; of a push, what it replaced with what it brought; of a
merge queue, the group with its base. On workflow_dispatch everything is judged.
Commits that the checkout does not have are fetched.

The report goes to the log, the annotations and the summary of the run, and on
request to a check run, a comment and code scanning. What the token does not
allow is left out, and told.

Every flag has an input: --fail-on is read from INPUT_FAIL_ON, and repeatable
flags take one value a line. There is no flag for the token: it is the input
github-token, or GITHUB_TOKEN.

Exit codes are those of preadmit scan; 3 also when the report could not be
published for a reason that is not the token's.`,
		Example: `  # In a workflow; see docs/action.md
  preadmit action --comment --sarif`,
		Args: scanPath(f.scan),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := readInputs(cmd, f, p.Getenv); err != nil {
				return guarded(err)
			}
			return guarded(runAction(cmd.Context(), p, f))
		},
	}
	f.register(cmd)
	return cmd
}

func (f *actionFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scan.base, "base", "", "judge what changed since the merge base with this `REV`, whatever the event says")
	f.scan.registerJudging(cmd)
	flags.BoolVar(&f.checkRun, "check-run", false, "also make a check run, with annotations (checks: write)")
	flags.BoolVar(&f.comment, "comment", false, "also keep one comment on the pull request (pull-requests: write)")
	flags.BoolVar(&f.sarif, "sarif", false, "also upload SARIF to code scanning (security-events: write)")
	flags.StringVar(&f.name, "name", "", "`NAME` of the check run, and what tells comments apart (default \"preadmit\")")
	flags.StringVar(&f.from, "from", "", "publish this `REPORT` of another run instead of judging; for workflow_run")
}

// actionRun is one run of the command.
type actionRun struct {
	p      Process
	flags  *actionFlags
	runner *runner
	// trigger is what the event asks for.
	trigger *trigger
	source  *commitSource
	publish *publishing
	extras  []scanner.Extra
	outputs outputs
	// dir is the directory of the reports. It is not removed.
	dir string
	// files are the paths that the change touches, nil without a base.
	files map[string]bool
	// failOn is set when the configuration is known.
	failOn string
}

// runAction runs the command.
func runAction(ctx context.Context, p Process, f *actionFlags) error {
	if err := f.scan.check(); err != nil {
		return err
	}
	outputs, err := parseOutputs(f.scan)
	if err != nil {
		return err
	}
	f.scan.diff = f.scan.diff || outputs.have("html")
	runner, err := readRunner(p.Getenv)
	if err != nil {
		return err
	}
	trigger, err := runner.trigger(f)
	if err != nil {
		return err
	}
	if trigger == nil {
		_, err := fmt.Fprintf(p.Stderr, "preadmit: %s\n", escape.Line("the push deletes "+runner.ref+": there is nothing to judge"))
		return err
	}
	run := &actionRun{p: p, flags: f, runner: runner, trigger: trigger, outputs: outputs}
	run.publish = newPublishing(run)
	return run.run(ctx)
}

// run gets the commits and does what the event asks for.
func (a *actionRun) run(ctx context.Context) (err error) {
	if a.dir, err = os.MkdirTemp(a.runner.temp, "preadmit-"); err != nil {
		return fmt.Errorf("make a directory for the reports: %w", err)
	}
	if a.source, err = newCommitSource(a.runner, a.flags.scan.path, a.dir); err != nil {
		return err
	}
	defer a.source.close()
	defer func() { a.publish.abandon(ctx, err) }()
	if a.extras, err = openExtras(ctx, a.p.Stdin, a.flags.scan); err != nil {
		return err
	}
	if a.flags.from != "" {
		return a.republish(ctx)
	}
	change, err := a.open(ctx)
	if err != nil {
		return err
	}
	a.explain(change)
	a.publish.connect()
	a.publish.Start(ctx)
	r, sarif, err := a.judge(ctx, change)
	if err != nil {
		return err
	}
	opts, err := a.checkOptions(ctx, change)
	if err != nil {
		return err
	}
	if err := a.publish.report(ctx, r, opts, sarif); err != nil {
		return err
	}
	return a.finish(r)
}

// explain writes to the log what is compared. Often the log is all that is left of a run.
func (a *actionRun) explain(c *change) {
	if !a.flags.scan.quiet {
		for _, note := range c.notes {
			_, _ = fmt.Fprintf(a.p.Stderr, "preadmit: %s\n", escape.Line(note))
		}
	}
	c.notes = nil
}

// judge scans, and writes the report to files and to the log.
func (a *actionRun) judge(ctx context.Context, c *change) (*report.Report, []byte, error) {
	r, config, err := judge(ctx, a.p, a.flags.scan, c, a.extras)
	if err != nil {
		return nil, nil, err
	}
	a.failOn = config.FailOn
	sarif, err := a.sarif(ctx, r, c)
	if err != nil {
		return nil, nil, err
	}
	if err := a.writeFiles(r, sarif); err != nil {
		return nil, nil, err
	}
	return r, sarif, a.outputs.write(a.p, a.flags.scan, func(w io.Writer, name string, opts format.Options) error {
		opts.FailOn, opts.Existing = a.failOn, a.flags.scan.existing
		return format.Write(w, name, r, opts)
	})
}

// checkOptions are those of the check run. Its annotations are on the head of a pull
// request, whose lines are not always those of the merge commit that was judged.
func (a *actionRun) checkOptions(ctx context.Context, c *change) (github.CheckOptions, error) {
	opts := github.CheckOptions{FailOn: a.failOn, Existing: a.flags.scan.existing}
	if !a.publish.Started() || a.trigger.judged == a.trigger.headSHA {
		return opts, nil
	}
	head, err := a.source.commit(ctx, a.trigger.headSHA)
	if err != nil {
		return opts, err
	}
	opts.Lines = github.Translation{Judged: c.head.FS, Head: head.FS()}
	return opts, nil
}

// finish writes commands, summary and outputs for the runner, and returns the verdict of
// the report as an error.
func (a *actionRun) finish(r *report.Report) error {
	if err := a.writeSummary(r); err != nil {
		return err
	}
	if err := a.writeCommands(r); err != nil {
		return err
	}
	if err := a.writeOutputs(r); err != nil {
		return err
	}
	unpublished := a.publish.failure()
	if err := verdict(a.p.Stderr, r, a.failOn, a.flags.scan.existing); err != nil {
		if unpublished != nil { // the verdict ends the run, so it is told here
			_, _ = fmt.Fprintln(a.p.Stdout, workflow.Notice(unpublished.Error()))
		}
		return err
	}
	return unpublished
}

// guardedError is an error whose text a runner cannot take for a workflow command,
// because it may quote content of a pull request.
type guardedError struct{ err error }

func guarded(err error) error {
	if err == nil || errors.Is(err, errFindings) {
		return err
	}
	return &guardedError{err}
}

func (g *guardedError) Error() string { return strings.Join(escape.GuardedLines(g.err.Error()), "\n") }
func (g *guardedError) Unwrap() error { return g.err }
