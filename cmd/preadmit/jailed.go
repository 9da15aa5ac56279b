package main

import (
	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/webhooks/jailed/child"
)

// jailedCommand is the name of the command that newJailedCommand returns.
const jailedCommand = "scan-jailed"

// newJailedCommand returns the command that jailed.Scanner runs: it scans one change in a
// jail. It is not for users.
func newJailedCommand(p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:    jailedCommand,
		Short:  "Scan the change that stdin names, in a jail (used by preadmit itself)",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			results, err := jail.Enter(p.Stderr)
			if err != nil {
				return err
			}
			defer results.Close()
			return child.Main(cmd.Context(), p.Stdin, results, scan.RenderOptions(p, "", nil).Isolate)
		},
	}
}
