package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/action"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/initialize"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/playground"
	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Main runs the command with args (without the program's name) and returns its
// exit code. It does not exit the process.
func Main(ctx context.Context, args []string, p cli.Process) (code int) {
	defer func() {
		if r := recover(); r != nil {
			message := fmt.Sprintf("preadmit: crashed, this is a bug: %v\n\n%s", r, cli.StackOf(r))
			message = strings.ReplaceAll(message, "\t", "    ") // tabs of the stack would be escaped
			_, _ = fmt.Fprintln(p.Stderr, strings.Join(escape.GuardedLines(message), "\n"))
			code = cli.ExitIncomplete
		}
	}()
	p.Args = args
	root := newRootCommand(p)
	root.SetArgs(args)
	running := false
	root.PersistentPreRun = func(*cobra.Command, []string) { running = true }
	err := root.ExecuteContext(ctx)
	if err != nil && !running {
		err = cli.Usagef("%w", err) // cobra could not parse the arguments
	}
	return cli.ExitCode(p.Stderr, err)
}

func newRootCommand(p cli.Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "preadmit",
		Short: "What will the cluster's API server say to this change?",
		Long: `preadmit renders the Kubernetes manifests of a repository before and after a
change, turns the difference into the admission requests of a GitOps controller,
and judges each as a kube-apiserver does, without a cluster.`,
		Example: `  # Judge the changes of a branch
  preadmit scan --base origin/main

  # Compare two directories
  preadmit scan --base-path before after`,
		Args: noArgs,

		Version:                    cli.Version(),
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		SilenceErrors:              true,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("preadmit {{.Version}}\n")
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usagef("%w%s\nrun '%s --help' for the flags", expectedValue(err), nearFlag(cmd, err), cmd.CommandPath())
	})
	root.AddCommand(newScanCommand(p), newUpgradeCommand(p), newTestCommand(p), newLintCommand(p), newRenderCommand(p), newTreeCommand(p), newFetchCommand(p), newSnapshotCommand(p), newSandboxCommand(p), newContextCommand(p), newDiffCommand(p), newReportCommand(p), newExplainCommand(p), playground.NewCommand(p), initialize.NewCommand(p), action.NewCommand(p), newServeCommand(p), newVersionCommand(), newCompletionCommand(), newChildCommand(p), newPartCommand(p), newJailedCommand(p), playground.NewJudgeCommand(p))
	refuseUnknownTopics(root)
	return root
}

// refuseUnknownTopics makes `help` for a command that does not exist an error.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		help := cmd.Run
		cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
			if found, left, err := root.Find(args); err != nil || found == root && len(left) > 0 {
				return noArgs(root, args)
			}
			help(cmd, args)
			return nil
		}
	}
}

// expectedValue returns an error with a description of the value that a flag expects, for
// values that Go's parsers reject. It returns other errors unchanged.
func expectedValue(err error) error {
	invalid := new(pflag.InvalidValueError)
	if !errors.As(err, &invalid) {
		return err
	}
	expected := map[string]string{"bool": "true or false", "int": "a whole number", "int64": "a whole number", "duration": "a duration with its unit, like 30s, 10m or 1h"}
	if want := expected[invalid.GetFlag().Value.Type()]; want != "" {
		return fmt.Errorf("invalid argument %q for \"--%s\" flag: want %s", invalid.GetValue(), invalid.GetFlag().Name, want)
	}
	return err
}

// nearFlag returns a suggestion for an unknown flag, "" if no known one is similar.
func nearFlag(cmd *cobra.Command, err error) string {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	if near := strictyaml.Suggestion("--"+name, known); strings.Contains(near, "did you mean") {
		return near
	}
	return ""
}

// noArgs returns an error if there are arguments, with a suggestion for an unknown command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return cli.Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args)
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		message += fmt.Sprintf(", did you mean %q?", near[0])
	}
	return cli.Usagef("%s\nrun '%s --help' for the commands", message, cmd.CommandPath())
}
