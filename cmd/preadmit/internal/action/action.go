package action

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/artifacts"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/workflow"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/scanner"
)

// flags are the flags of preadmit action: most flags of scan, and those for where to
// publish the report.
type flags struct {
	scan                     *scan.Flags
	checkRun, comment, sarif bool
	name                     string
	from                     string
}

// NewCommand returns the command preadmit action.
func NewCommand(p cli.Process) *cobra.Command {
	f := &flags{scan: scan.NewFlags()}
	f.scan.Fetch = artifacts.LockedMode()
	cmd := &cobra.Command{
		Use:   "action [PATH]",
		Short: "Judge the change of a GitHub Actions workflow run",
		Long: `Judge the change of a GitHub Actions workflow run, and publish the report.

The event determines the commits: for a pull request, its merge commit and the
first parent of that commit; for a push, the commits before and after it; for a
merge queue, the group and its base. On workflow_dispatch all objects are judged.
Commits that the checkout lacks are fetched.

The report is written to the log, the annotations and the summary of the run and,
with the flags below, to a check run, a comment and code scanning. If the token
does not permit one of these, it is left out, and the log has the reason.

Every flag has an input: --fail-on is INPUT_FAIL_ON, and repeatable flags take one
value per line. The token is the input github-token, or GITHUB_TOKEN; it has no
flag.

Exit codes are those of preadmit scan; 3 also if the report could not be published
for a reason other than the rights of the token.`,
		Example: `  # In a workflow; see docs/action.md
  preadmit action --comment --sarif`,
		Args: scan.PathArgument(f.scan),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := readInputs(cmd, f, p.Getenv); err != nil {
				return err
			}
			return runCommand(cmd.Context(), p, f)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *flags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scan.Base, "base", "", "judge the changes since the merge base with this revision `REV`, whatever the event is")
	f.scan.RegisterJudging(cmd)
	flags.BoolVar(&f.checkRun, "check-run", false, "also create a check run with annotations (checks: write)")
	flags.BoolVar(&f.comment, "comment", false, "also write one comment on the pull request, and update it (pull-requests: write)")
	flags.BoolVar(&f.sarif, "sarif", false, "also upload SARIF to code scanning (security-events: write)")
	flags.StringVar(&f.name, "name", "", "`NAME` of the check run; comments of different names are separate (default \"preadmit\")")
	flags.StringVar(&f.from, "from", "", "publish this `REPORT` of another run instead of a scan; for workflow_run")
}

// run is one run of the command.
type run struct {
	p      cli.Process
	flags  *flags
	runner *runner
	// trigger has the commits to compare, from the event.
	trigger *trigger
	source  *commitSource
	publish *publishing
	extras  []scanner.Extra
	outputs cli.Outputs
	// dir is the directory of the reports. It is not removed, as later steps read them.
	dir string
	// files are the paths that the change touches, nil without a base.
	files map[string]bool
	// failOn is set when the configuration is known.
	failOn string
}

// runCommand runs the command.
func runCommand(ctx context.Context, p cli.Process, f *flags) error {
	if err := f.scan.Check(); err != nil {
		return err
	}
	outputs, err := f.scan.ParseOutputs()
	if err != nil {
		return err
	}
	f.scan.Diff = f.scan.Diff || outputs.Have("html")
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
	run := &run{p: p, flags: f, runner: runner, trigger: trigger, outputs: outputs}
	run.publish = newPublishing(run)
	return run.execute(ctx)
}

// execute gets the commits, judges them and publishes the report, or republishes one.
func (a *run) execute(ctx context.Context) (err error) {
	if a.dir, err = os.MkdirTemp(a.runner.temp, "preadmit-"); err != nil {
		return fmt.Errorf("make a directory for the reports: %w", err)
	}
	if a.source, err = newCommitSource(a.runner, a.flags.scan.Path, a.dir); err != nil {
		return err
	}
	defer a.source.close()
	defer func() { a.publish.abandon(ctx, err) }()
	if a.extras, err = scan.OpenExtras(ctx, a.p.Stdin, a.flags.scan); err != nil {
		return err
	}
	if a.flags.from != "" {
		return a.republish(ctx)
	}
	change, err := a.open(ctx)
	if err != nil {
		return err
	}
	if a.p.Part == nil { // otherwise another process publishes
		a.explain(change)
		a.publish.connect()
		a.publish.Start(ctx)
	}
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

// explain writes what is compared to the log. Often only the log of a run is left.
func (a *run) explain(c *scan.Change) {
	if !a.flags.scan.Quiet {
		for _, note := range c.Notes {
			_, _ = fmt.Fprintf(a.p.Stderr, "preadmit: %s\n", escape.Line(note))
		}
	}
	c.Notes = nil
}

// judge scans the change, and writes the report to files and to the log.
func (a *run) judge(ctx context.Context, c *scan.Change) (*report.Report, []byte, error) {
	r, config, err := scan.Judge(ctx, a.p, a.flags.scan, c, a.extras)
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
	return r, sarif, a.outputs.Write(a.p, &a.flags.scan.OutputFlags, func(w io.Writer, name string, opts format.Options) error {
		opts.FailOn, opts.Existing = a.failOn, a.flags.scan.Existing
		return format.Write(w, name, r, opts)
	})
}

// checkOptions returns the options of the check run. Its annotations are on the head of a
// pull request, whose lines may differ from those of the judged merge commit.
func (a *run) checkOptions(ctx context.Context, c *scan.Change) (github.CheckOptions, error) {
	opts := github.CheckOptions{FailOn: a.failOn, Existing: a.flags.scan.Existing}
	if !a.publish.Started() || a.trigger.judged == a.trigger.headSHA {
		return opts, nil
	}
	head, err := a.source.commit(ctx, a.trigger.headSHA)
	if err != nil {
		return opts, err
	}
	opts.Lines = github.Translation{Judged: c.Head.FS, Head: head.FS()}
	return opts, nil
}

// finish writes commands, summary and outputs for the runner, and returns the verdict of
// the report as an error.
func (a *run) finish(r *report.Report) error {
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
	if err := scan.Verdict(a.p.Stderr, r, a.failOn, a.flags.scan.Existing); err != nil {
		if unpublished != nil { // the verdict is returned, so this error is printed here
			_, _ = fmt.Fprintln(a.p.Stdout, workflow.Notice(unpublished.Error()))
		}
		return err
	}
	return unpublished
}
