package initialize

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report/format/escape"
)

// flags are the flags of preadmit init.
type flags struct {
	path   string
	ci     cli.Choice
	dryRun bool
}

// NewCommand returns the command preadmit init.
func NewCommand(p cli.Process) *cobra.Command {
	f := &flags{path: ".", ci: cli.Choice{Value: ciAuto, Known: []string{ciAuto, ciGitHub, ciGitLab, ciNone}}}
	cmd := &cobra.Command{
		Use:   "init [PATH]",
		Short: "Write a configuration, a workflow and first policies",
		Long: `Inspect a repository and write the first files: .preadmit.yaml, a workflow that
judges each pull request, and first policies if the repository has none. They are
written at the top of the repository that contains PATH, with comments.

Existing files do not change.

Exit code: 0 written, or all exist, 2 wrong usage, 3 a file could not be written.`,
		Example: `  # Print the files
  preadmit init --dry-run

  # Write the files, and judge all objects
  preadmit init
  preadmit scan`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("init takes one PATH, got %q", args)
			}
			f.path = append(args, ".")[0]
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), p, f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&f.ci, "ci", "CI `SYSTEM`: "+strings.Join(f.ci.Known, ", "))
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the files instead of writing them")
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("ci", cobra.FixedCompletions(cli.Completions(f.ci.Known), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// run runs the command.
func run(ctx context.Context, p cli.Process, f *flags) error {
	r, err := inspect(ctx, p, f.path)
	if err != nil {
		return err
	}
	all, err := r.files(f.ci.Value)
	if err != nil {
		return err
	}
	if f.dryRun {
		return r.print(p.Stdout, all)
	}
	_, _ = fmt.Fprintf(p.Stdout, "found: %s\n", escape.Line(r.summary()))
	for _, file := range all {
		written, err := r.write(file)
		switch {
		case err != nil:
			return err
		case written:
			_, err = fmt.Fprintf(p.Stdout, "wrote %s: %s\n", file.path, file.about)
		default:
			_, err = fmt.Fprintf(p.Stdout, "kept %s, which exists\n", file.path)
		}
		if err != nil {
			return err
		}
	}
	return next(p.Stdout, f.path)
}

// print writes the files that do not exist yet to stdout.
func (r *repository) print(w io.Writer, all []file) error {
	for _, file := range all {
		title, text := file.path, string(file.data)
		if r.has(file.path) {
			title, text = title+" exists", ""
		}
		if _, err := fmt.Fprintf(w, "--- %s\n%s", title, text); err != nil {
			return err
		}
	}
	return nil
}

// next prints the next steps for the user.
func next(w io.Writer, path string) error {
	command := "preadmit scan"
	if path != "." {
		command += " " + path
	}
	_, err := fmt.Fprintf(w, "\nNext: %s judges everything there is, with --base origin/main what a branch changes.\n", escape.Line(command))
	return err
}
