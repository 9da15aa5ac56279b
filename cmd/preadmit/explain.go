package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/explain"
	"github.com/preadmit/preadmit/scanner/suite"
)

// explainFlags are the flags of preadmit explain: some flags of scan, and its own.
type explainFlags struct {
	scan                *scan.Flags
	suite, name, policy string
	from, finding       string
	path                bool // PATH is given
}

func newExplainCommand(p cli.Process) *cobra.Command {
	f := &explainFlags{scan: scan.NewFlags()}
	f.scan.Format.Known = format.ExplainFormats()
	cmd := &cobra.Command{
		Use:   "explain {--suite DIR --case NAME | --from FILE --finding FINGERPRINT [PATH]}",
		Short: "Explain how policies decide a request",
		Long: `Explain how an API server decides one request: which policies apply, and which
field decides that; and for each of their expressions, the value and the cost of
every part.

The request is a case of a suite, or belongs to a finding of a report. A finding
is identified by its fingerprint, and the revisions of the report are scanned
again. PATH is the directory of that scan, by default the current one; flags of
that scan such as --context, --policies and --config have to be repeated.

Values of Secrets are masked. Values that are not known offline are shown as
unknown, with the reason.

Exit code: 0 explained, 2 wrong usage, or the case or finding does not exist,
3 the request could not be explained.`,
		Example: `  # Why is this request of a suite denied, or not?
  preadmit explain --suite policies/replicas --case scale-up

  # Only one policy, as JSON
  preadmit explain --suite policies/replicas --case scale-up --policy replicas.example.com --format json

  # A finding of a scan
  preadmit scan --base origin/main -o report.json
  preadmit explain --from report.json --finding 3f2a`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("explain takes one PATH, got %q", args)
			}
			f.scan.Path, f.path = append(args, ".")[0], len(args) > 0
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runExplain(cmd.Context(), p, f) },
	}
	f.register(cmd)
	return cmd
}

func (f *explainFlags) register(cmd *cobra.Command) {
	flags, s := cmd.Flags(), f.scan
	flags.SortFlags = false
	s.Given = flags.Changed
	flags.StringVar(&f.suite, "suite", "", "`DIR` of a suite, as for preadmit test")
	flags.StringVar(&f.name, "case", "", "`NAME` of a request of the suite")
	flags.StringVar(&f.policy, "policy", "", "explain only the policy with this `NAME`")
	flags.StringVar(&f.from, "from", "", "`FILE` with the JSON report of a scan, - for stdin")
	flags.StringVar(&f.finding, "finding", "", "`FINGERPRINT` of a finding of the report, or its first characters")
	flags.Var(&s.Policies, "policies", "`PATH` of YAML with more policies than those of the repository (repeatable)")
	flags.Var(&s.Context, "context", "YAML `FILE` with Namespaces, CRDs, params, RBAC and policies of a cluster (repeatable)")
	flags.StringVar(&s.As, "as", "", "`USER` who applies the objects")
	flags.Var(&s.AsGroups, "as-group", "`GROUP` of that user (repeatable)")
	flags.Var(&s.LoadRestrictor, "load-restrictor", "`RESTRICTOR` of the files that kustomizations may load: "+strings.Join(s.LoadRestrictor.Known, " or "))
	flags.StringVar(&s.Config, "config", "", "configuration `FILE` to use instead of the repository's .preadmit.yaml")
	flags.Var(&s.Format, "format", "`FORMAT` on stdout: "+strings.Join(s.Format.Known, ", "))
	flags.VarP(&s.Outputs, "output", "o", "also write the explanation to a file, `[FORMAT=]FILE`, - for stdout (repeatable)")
	flags.Var(&s.Color, "color", "`WHEN` to use colours in text: auto, always or never")
	s.Release.Register(cmd)
	s.Cache.Register(flags)
	s.Artifacts.RegisterDir(flags)
	s.Artifacts.RegisterGiven(flags)
	s.RegisterApplier(cmd)
	s.RegisterNodePorts(flags)
	for name, known := range map[string][]string{"format": s.Format.Known, "color": s.Color.Known, "load-restrictor": s.LoadRestrictor.Known} {
		// The only error is a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(cli.Completions(known), cobra.ShellCompDirectiveNoFileComp))
	}
}

// check returns an error if flags are missing or contradict each other.
func (f *explainFlags) check() error {
	switch ofSuite, ofReport := f.suite != "" || f.name != "", f.from != "" || f.finding != ""; {
	case ofSuite && ofReport:
		return cli.Usagef("explain is for the case of a suite (--suite, --case) or for the finding of a report (--from, --finding), not for both")
	case !ofSuite && !ofReport:
		return cli.Usagef("say what to explain: --suite DIR --case NAME, or --from FILE --finding FINGERPRINT")
	case ofSuite && f.suite == "":
		return cli.Usagef("--suite is missing: the directory of the suite that has the case %q", f.name)
	case ofSuite && f.name == "":
		return cli.Usagef("--case is missing: the name of a request of %s", f.suite)
	case ofSuite && f.path:
		return cli.Usagef("PATH is that of a scan: with --suite there is none")
	case ofReport && f.from == "":
		return cli.Usagef("--from is missing: the JSON report that has the finding %s", f.finding)
	case ofReport && f.finding == "":
		return cli.Usagef("--finding is missing: the fingerprint of a finding of %s", f.from)
	case ofReport && f.policy != "":
		return cli.Usagef("--policy is for suites: a finding has its policy")
	}
	return f.scan.Check()
}

// runExplain runs the command.
func runExplain(ctx context.Context, p cli.Process, f *explainFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.suite != "" {
		if err := f.scan.Release.AsNamed(ctx, p); err != nil {
			return err
		}
	}
	outputs, err := f.scan.ParseOutputs()
	if err != nil {
		return err
	}
	ask := f.ofSuite
	if f.from != "" {
		ask = func(ctx context.Context) (*report.ExplainReport, error) { return f.ofReport(ctx, p) }
	}
	r, err := ask(ctx)
	if err != nil {
		return err
	}
	r.Tool = scanner.Tool(cli.Version())
	return outputs.Write(p, &f.scan.OutputFlags, func(w io.Writer, name string, opts format.Options) error {
		return format.WriteExplain(w, name, r, opts)
	})
}

// ofSuite explains the case of a suite.
func (f *explainFlags) ofSuite(ctx context.Context) (*report.ExplainReport, error) {
	if err := scan.CheckDirectory("--suite", f.suite); err != nil {
		return nil, err
	}
	s, err := suite.Open(f.suite)
	if err != nil {
		return nil, cli.Usagef("broken suite:\n%w", err)
	}
	r, ok, err := s.Explain(ctx, f.name, explain.Options{Policy: f.policy, Types: true})
	switch {
	case ctx.Err() != nil:
		return nil, context.Canceled
	case err != nil:
		return nil, fmt.Errorf("explain: %w", err)
	case !ok:
		var names []string
		for i := range s.Requests {
			names = append(names, s.Requests[i].Name)
		}
		return nil, cli.Usagef("--case %s: no request of %s has this name, want one of %s", f.name, f.suite, strings.Join(names, ", "))
	case f.policy != "" && len(r.Policies) == 0:
		return nil, cli.Usagef("--policy %s: %s has no such policy", f.policy, f.suite)
	}
	return r, nil
}

// ofReport explains a finding of a report.
func (f *explainFlags) ofReport(ctx context.Context, p cli.Process) (*report.ExplainReport, error) {
	again := p.Stdin
	if f.from == "-" { // a child process may have to read it too
		data, err := io.ReadAll(io.LimitReader(p.Stdin, report.MaxSaved+1))
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		p.Stdin, again = bytes.NewReader(data), bytes.NewReader(data)
	}
	saved, err := f.open(p.Stdin)
	p.Stdin = again
	if err != nil {
		return nil, err
	}
	finding, err := f.find(saved)
	if err != nil {
		return nil, err
	}
	f.revisions(saved.Change)
	change, err := scan.Open(f.scan)
	if err != nil {
		return nil, fmt.Errorf("open the revisions of %s%s: %w", f.from, f.orPath("; PATH is the directory of the repository"), err)
	}
	if now, then := change.Head.Revision.Commit, saved.Change.Head.Commit; now != then {
		return nil, cli.Usagef("--from %s: the report is of %s, and PATH is at %s: scan again, or check that revision out", f.from, revisionName(saved.Change.Head), revisionName(change.Head.Revision))
	}
	extras, err := scan.OpenExtras(ctx, p.Stdin, f.scan)
	if err != nil {
		return nil, err
	}
	r, err := scan.Explanation(ctx, p, f.scan, change, extras, finding.Fingerprint)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, cli.Usagef("--finding %s: a new scan of %s does not have this finding: give it what the report's scan was given (%s--context, --policies, --config, --applier, --kubernetes-version), or scan again", finding.Fingerprint, revisionName(change.Head.Revision), f.orPath("PATH, "))
	}
	return r, nil
}

// orPath returns text, or "" if PATH is given.
func (f *explainFlags) orPath(text string) string {
	if f.path {
		return ""
	}
	return text
}

func revisionName(r report.Revision) string {
	if r.Commit == "" {
		return r.Name
	}
	return fmt.Sprintf("%s (%s)", r.Name, r.Commit)
}

// open reads the report.
func (f *explainFlags) open(stdin io.Reader) (*report.Report, error) {
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
	switch {
	case err != nil:
		return nil, cli.Usagef("--from %s: %w", f.from, reportMistake(err))
	case saved.Scan == nil:
		return nil, cli.Usagef("--from %s: a report of lint has no requests to explain, want one of scan", f.from)
	}
	return saved.Scan, nil
}

// find returns the finding whose fingerprint begins with --finding.
func (f *explainFlags) find(r *report.Report) (*report.Finding, error) {
	var found []*report.Finding
	for i := range r.Findings {
		if strings.HasPrefix(r.Findings[i].Fingerprint, f.finding) {
			found = append(found, &r.Findings[i])
		}
	}
	switch {
	case len(found) == 0 && len(r.Findings) == 0:
		return nil, cli.Usagef("--finding %q: %s has no findings", f.finding, f.from)
	case len(found) == 0:
		return nil, cli.Usagef("--finding %q: no finding of %s has this fingerprint: it has %s, among them %q", f.finding, f.from, cli.Count(len(r.Findings), "finding", "findings"), r.Findings[0].Fingerprint)
	case len(found) > 1:
		return nil, cli.Usagef("--finding %q: %d findings of %s begin so: give more of the fingerprint", f.finding, len(found), f.from)
	}
	return found[0], nil
}

// revisions sets the flags of the scan to the revisions or directories of the report.
func (f *explainFlags) revisions(c report.ChangeInfo) {
	if c.Head.Commit == "" && c.Base != nil && c.Base.Commit == "" {
		f.scan.BasePath = c.Base.Name // directories
		if !f.path {
			f.scan.Path = c.Head.Name
		}
		return
	}
	if c.Base != nil {
		f.scan.Base = c.Base.Commit
	} else if c.Head.Commit == "" && !f.path { // the name of a directory is its path
		if info, err := os.Stat(c.Head.Name); err == nil && info.IsDir() {
			f.scan.Path = c.Head.Name
		}
	}
	f.scan.Head = c.Head.Commit
}
