package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/webhooks/jailed/child"
)

// jailedCommand is the name of the command that newJailedCommand returns.
const jailedCommand = "scan-jailed"

// newJailedCommand returns the hidden command that jailed.Scanner runs. It scans one change
// in a jail.
func newJailedCommand(p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:    jailedCommand,
		Short:  "Scan a change given on stdin, in a jail (used by preadmit itself)",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			isolate := scan.RenderOptions(p, "", nil).Isolate
			if p.Part != nil { // the parent process is already in the jail
				return child.PartMain(cmd.Context(), p.Stdin, p.Stdout, isolate)
			}
			results, err := jail.Enter()
			if err != nil {
				return err
			}
			defer results.Close()
			return child.Main(cmd.Context(), p.Stdin, results, isolate, func(ctx context.Context, r release.Release, job []byte) (*scanner.Part, error) {
				return scan.RunPart(ctx, p, cli.Part{Release: r}, job)
			})
		},
	}
}
