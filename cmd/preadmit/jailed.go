package main

import (
	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/webhooks/jailed/child"
)

// jailedCommand is how the program names itself to itself; see newJailedCommand.
const jailedCommand = "scan-jailed"

// newJailedCommand is the child of jailed.Scanner: it scans one change in a jail. It is
// not for users.
func newJailedCommand(p Process) *cobra.Command {
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
			return child.Main(cmd.Context(), p.Stdin, results, renderOptions(p, "", nil).Isolate)
		},
	}
}
