package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner/suite"
)

// testFlags are the flags of preadmit test.
type testFlags struct {
	dirs    []string // the positional arguments
	format  cli.Choice
	run     string
	update  bool
	verbose bool
	release scan.ReleaseFlags
}

func newTestCommand(p cli.Process) *cobra.Command {
	f := &testFlags{format: cli.Choice{Value: "text", Known: format.TestFormats()}}
	cmd := &cobra.Command{
		Use:   "test [DIR...]",
		Short: "Test policies with suites of admission requests",
		Long: `Evaluate suites of admission requests and compare the responses with the expected
ones.

A suite is a directory with requests.yaml and, as needed, policies.yaml,
context.yaml (Namespaces, CRDs, params, RBAC) and expected.yaml. DIR is a suite or
contains suites at any depth; the default is the current directory, except
directories named testdata.

expected.yaml may be partial: a field that an entry does not have is not compared,
and a request without an entry is evaluated only. With recordedFrom, every
response is compared as a whole.

Exit code: 0 all responses are as expected, 1 some are not, 2 wrong usage or a
broken suite.`,
		Example: `  # All suites below the current directory
  preadmit test

  # Requests of one suite whose name starts with scale
  preadmit test --run '^scale' policies/replicas

  # Write the actual responses to expected.yaml
  preadmit test --update policies/replicas

  # JUnit, for CI
  preadmit test --format junit policies > junit.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.dirs = args
			return runTest(cmd.Context(), p, f)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *testFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.run, "run", "", "run only requests whose name matches this `REGEXP`")
	flags.BoolVar(&f.update, "update", false, "write the actual responses to expected.yaml")
	flags.Var(&f.format, "format", "`FORMAT` of the report on stdout: "+strings.Join(f.format.Known, ", "))
	f.release.Register(cmd)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list every request with its response")
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(
		cli.Completions(f.format.Known), cobra.ShellCompDirectiveNoFileComp))
}

// runTest runs the command: it runs the suites and writes the report.
func runTest(ctx context.Context, p cli.Process, f *testFlags) error {
	chosen, err := f.chosen()
	if err != nil {
		return err
	}
	if err := f.release.Check(); err != nil {
		return err
	}
	if err := f.release.AsNamed(ctx, p); err != nil {
		return err
	}
	suites, err := openSuites(f.dirs)
	if err != nil {
		return err
	}
	results, err := runSuites(ctx, suites, chosen)
	if err != nil {
		return err
	}
	if f.run != "" && requestsOf(results) == 0 {
		return cli.Usagef("--run %s: no request of %s has such a name", f.run, cli.Count(len(suites), "suite", "suites"))
	}
	if f.update {
		if results, err = record(p.Stderr, results); err != nil {
			return err
		}
	}
	return writeTestReport(p.Stdout, f, results)
}

// chosen returns the function that chooses requests by --run.
func (f *testFlags) chosen() (func(name string) bool, error) {
	if f.run != "" && f.update {
		return nil, cli.Usagef("--update writes all answers of a suite and excludes --run")
	}
	pattern, err := regexp.Compile(f.run)
	if err != nil {
		return nil, cli.Usagef("--run: %w", err)
	}
	return pattern.MatchString, nil
}

// openSuites opens the suites in all directories, each once. It returns the errors of all
// suites together.
func openSuites(dirs []string) ([]*suite.Suite, error) {
	var skip []string
	if len(dirs) == 0 {
		dirs, skip = []string{"."}, []string{"testdata"}
	}
	var suites []*suite.Suite
	var mistakes []error
	seen := map[string]bool{}
	for _, dir := range dirs {
		if err := scan.CheckDirectory("DIR", dir); err != nil {
			return nil, err
		}
		found, err := suite.Find(dir, skip...)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		for _, d := range found {
			absolute, err := filepath.Abs(d)
			if err != nil {
				mistakes = append(mistakes, err)
			}
			if seen[absolute] {
				continue
			}
			seen[absolute] = true
			s, err := suite.Open(d)
			suites, mistakes = append(suites, s), append(mistakes, err)
		}
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, cli.Usagef("broken suite:\n%w", err)
	}
	return suites, nil
}

// runSuites runs suites on all cores; results are in the order of suites.
func runSuites(ctx context.Context, suites []*suite.Suite, chosen func(string) bool) ([]*suite.Result, error) {
	results, errs := make([]*suite.Result, len(suites)), make([]error, len(suites))
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, s := range suites {
		slots <- struct{}{}
		wait.Go(func() {
			results[i], errs[i] = s.Test(ctx, chosen)
			<-slots
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Canceled
	}
	return results, errors.Join(errs...)
}

// writeTestReport writes the report and returns the error that ends the run.
func writeTestReport(w io.Writer, f *testFlags, results []*suite.Result) error {
	all := make([]*report.SuiteResult, len(results))
	for i, r := range results {
		all[i] = r.Report()
	}
	r := report.NewSuiteReport(all)
	if err := format.WriteTest(w, f.format.Value, r, format.Options{Verbose: f.verbose}); err != nil {
		return err
	}
	if !r.Agreed() {
		return cli.ErrFindings
	}
	return nil
}

func requestsOf(results []*suite.Result) int {
	n := 0
	for _, r := range results {
		n += len(r.Verdicts)
	}
	return n
}

// record writes the expected.yaml of every suite, unless it is a record that agrees with all
// answers, and prints its name. It returns the results compared with the new files.
func record(stderr io.Writer, results []*suite.Result) ([]*suite.Result, error) {
	fresh := make([]*suite.Result, len(results))
	for i, r := range results {
		path := filepath.Join(r.Dir, suite.ExpectedFile)
		if fresh[i] = r; r.Kept() {
			_, _ = fmt.Fprintf(stderr, "preadmit: kept %s, recorded from %s\n", escape.Line(path), escape.Line(r.Recorded))
			continue
		}
		data, err := r.Record()
		if err == nil {
			err = cli.WriteFile(path, func(w io.Writer) error { _, err := w.Write(data); return err })
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", path, withoutPath(err))
		}
		_, _ = fmt.Fprintf(stderr, "preadmit: wrote %s\n", escape.Line(path))
		fresh[i] = r.AsRecorded()
	}
	return fresh, nil
}

// withoutPath returns the cause of an error without the name of the temporary file.
func withoutPath(err error) error {
	if e := new(fs.PathError); errors.As(err, &e) {
		return e.Err
	}
	if e := new(os.LinkError); errors.As(err, &e) {
		return e.Err
	}
	return err
}
