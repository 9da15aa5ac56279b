package main

import (
	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render/sources"
)

// newChildCommand returns the command that renders one root in a process of its own, for
// render.Isolate. It is not for users.
func newChildCommand(p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:    scan.RenderCommand,
		Short:  "Render the root that stdin names (used by preadmit itself)",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sources.ChildMain(cmd.Context(), p.Stdin, p.Stdout, p.Stderr)
		},
	}
}
