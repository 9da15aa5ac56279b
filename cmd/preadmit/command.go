package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/report/format/escape"
)

// Process is what the command knows of the process it runs in.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv looks up an environment variable; empty when it is not set.
	Getenv func(name string) string
	// Environ are all environment variables, as os.Environ has them. Nil is fine.
	Environ []string
	// Executable is the program's own file, to start it again for a root that needs a
	// process of its own. When empty such roots are indeterminate.
	Executable string
	// Lasting tells that the command ends by itself, in its own time, once it is
	// interrupted. Nil is fine.
	Lasting func()
}

// Main runs the command with args (without the program's name) and returns its
// exit code. It never ends the process.
func Main(ctx context.Context, args []string, p Process) (code int) {
	defer func() {
		if r := recover(); r != nil {
			said := fmt.Sprintf("preadmit: crashed, this is a bug: %v\n\n%s", r, debug.Stack())
			said = strings.ReplaceAll(said, "\t", "    ") // of the stack, which would show as escapes
			_, _ = fmt.Fprintln(p.Stderr, strings.Join(escape.GuardedLines(said), "\n"))
			code = exitIncomplete
		}
	}()
	root := newRootCommand(p)
	root.SetArgs(args)
	running := false
	root.PersistentPreRun = func(*cobra.Command, []string) { running = true }
	err := root.ExecuteContext(ctx)
	if err != nil && !running {
		err = usagef("%w", err) // cobra could not make sense of the arguments
	}
	return exitCode(p.Stderr, err)
}

func newRootCommand(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "preadmit",
		Short: "What will the cluster's API server say to this change?",
		Long: `preadmit renders the Kubernetes manifests of a repository before and after a
change, turns the difference into the admission requests a GitOps controller
would send, and judges each as a kube-apiserver does, without a cluster.`,
		Example: `  # Judge what a branch changes
  preadmit scan --base origin/main

  # Compare two directories
  preadmit scan --base-path before after`,
		Args: noArgs,

		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		SilenceErrors:              true,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w\nrun '%s --help' for the flags", err, cmd.CommandPath())
	})
	root.AddCommand(newScanCommand(p), newTestCommand(p), newLintCommand(p), newRenderCommand(p), newDiffCommand(p), newReportCommand(p), newActionCommand(p), newServeCommand(p), newVersionCommand(), newCompletionCommand(), newChildCommand(p), newJailedCommand(p))
	return root
}

// noArgs refuses arguments, naming the command that was likely meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args)
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		message += fmt.Sprintf(", did you mean %q?", near[0])
	}
	return usagef("%s\nrun '%s --help' for the commands", message, cmd.CommandPath())
}

// exitCode tells the user of err and turns it into the code to exit with.
func exitCode(stderr io.Writer, err error) int {
	exit := new(exitError)
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(stderr, "preadmit: interrupted")
		return exitIncomplete
	case errors.As(err, &exit):
		_, _ = fmt.Fprintf(stderr, "preadmit: %v\n", err)
		return exit.code
	}
	_, _ = fmt.Fprintf(stderr, "preadmit: %v\n", err)
	return exitIncomplete
}
