package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// reportFlags are the flags of preadmit report: some flags of scan, and its own.
type reportFlags struct {
	scan  *scan.Flags
	from  string
	limit int
}

func newReportCommand(p cli.Process) *cobra.Command {
	f := &reportFlags{scan: scan.NewFlags()}
	cmd := &cobra.Command{
		Use:   "report --from FILE",
		Short: "Convert a JSON report to another format",
		Long: `Read the JSON report of scan or lint and write it in another format. Nothing is
judged again, and the exit code does not depend on the findings.

Unknown fields of the JSON are errors. A report of lint can be written in the
formats of lint.

Exit code: 0 written, 2 wrong usage or no valid report, 3 it could not be written.`,
		Example: `  # One scan, three formats
  preadmit scan --base origin/main -o report.json
  preadmit report --from report.json --format markdown >> "$GITHUB_STEP_SUMMARY"
  preadmit report --from report.json -o report.sarif -o report.xml

  # From a pipe
  preadmit scan --format json | preadmit report --from - --format github`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runReport(p, f) },
	}
	f.register(cmd)
	return cmd
}

func (f *reportFlags) register(cmd *cobra.Command) {
	flags, s := cmd.Flags(), f.scan
	flags.SortFlags = false
	s.Given = flags.Changed
	flags.StringVar(&f.from, "from", "", "`FILE` with the JSON report, - for stdin")
	flags.Var(&s.Format, "format", "`FORMAT` of the report on stdout: "+strings.Join(s.Format.Known, ", "))
	flags.VarP(&s.Outputs, "output", "o", "also write the report to a file, `[FORMAT=]FILE`, - for stdout (repeatable)")
	flags.IntVar(&f.limit, "limit", 0, "write at most this many `CHARACTERS` of markdown, and count the findings left out (default no limit)")
	flags.Var(&s.FailOn, "fail-on", "weakest `ACTION` that is a failure in junit: "+strings.Join(s.FailOn.Known, ", "))
	flags.BoolVar(&s.Existing, "existing", false, "show findings that the base also has; in junit they are failures")
	flags.Var(&s.By, "by", "in text, print totals by `WHAT` instead of findings: "+strings.Join(format.TotalsBy(), ", ")+" (repeatable)")
	flags.Var(&s.Color, "color", "`WHEN` to use colours in text: auto, always or never")
	flags.BoolVarP(&s.Verbose, "verbose", "v", false, "print more")
	flags.BoolVarP(&s.Quiet, "quiet", "q", false, "print only denials and the summary")
	for name, known := range map[string][]string{
		"format": s.Format.Known, "fail-on": s.FailOn.Known, "color": s.Color.Known,
	} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(cli.Completions(known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// runReport runs the command.
func runReport(p cli.Process, f *reportFlags) error {
	switch {
	case f.from == "":
		return cli.Usagef("--from is missing: give the JSON of a scan or lint, or - for stdin")
	case f.limit < 0:
		return cli.Usagef("--limit %d: a number of characters is not negative", f.limit)
	}
	if err := f.scan.Check(); err != nil {
		return err
	}
	all, err := f.scan.ParseOutputs()
	if err != nil {
		return err
	}
	if err := cmp.Or(f.scan.Need(all, "limit", "markdown"), f.scan.Need(all, "by", "text")); err != nil {
		return err
	}
	saved, err := f.open(p.Stdin)
	if err != nil {
		return err
	}
	for _, o := range all {
		if known := format.SavedFormats(saved); !slices.Contains(known, o.Format) {
			return cli.Usagef("%s: a report of lint is not written as %s, want one of %s", f.from, o.Format, strings.Join(known, ", "))
		}
	}
	if saved.Scan != nil && saved.Scan.HasObjects() {
		f.scan.Private = "json"
	}
	return all.Write(p, &f.scan.OutputFlags, func(w io.Writer, name string, opts format.Options) error {
		opts.Limit, opts.FailOn, opts.Existing, opts.By = f.limit, f.scan.FailOn.Value, f.scan.Existing, f.scan.By.Values
		return format.WriteSaved(w, name, saved, opts)
	})
}

// open reads the report.
func (f *reportFlags) open(stdin io.Reader) (*report.Saved, error) {
	from := stdin
	if f.from != "-" {
		file, err := os.Open(f.from)
		if err != nil {
			return nil, cli.Usagef("--from: %w", err)
		}
		defer file.Close()
		from = file
	}
	saved, err := report.Open(from)
	if err != nil {
		return nil, cli.Usagef("--from %s: %w", f.from, reportMistake(err))
	}
	return saved, nil
}

// reportMistake returns the error for a document that is not a report, with a hint.
func reportMistake(err error) error {
	return fmt.Errorf("%w\nwant what preadmit scan --format json or preadmit lint --format json writes (%s)", err, report.APIVersion)
}
