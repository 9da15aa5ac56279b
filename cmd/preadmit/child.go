package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render/sources"
)

// newChildCommand returns the hidden command that renders one root in a separate process, for
// render.Isolate.
func newChildCommand(p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:    scan.RenderCommand,
		Short:  "Render a root given on stdin (used by preadmit itself)",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sources.ChildMain(cmd.Context(), p.Stdin, p.Stdout, p.Stderr)
		},
	}
}

// newPartCommand returns the hidden command that runs a part of another command in a separate
// process: the part to judge as another release of Kubernetes.
func newPartCommand(p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:                scan.PartCommand,
		Short:              "Run a part of another command (used by preadmit itself)",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			part := new(cli.Part)
			if err := json.Unmarshal([]byte(args[0]), part); err != nil {
				return fmt.Errorf("read the part: %w", err)
			}
			if err := scan.Imitate(part.Release); err != nil {
				return err
			}
			if !part.Whole && !scan.Await(p.Stdin) {
				return nil
			}
			p.Part = part
			if code := Main(cmd.Context(), args[1:], p); code != cli.ExitClean {
				return &cli.CommandError{Code: code}
			}
			return nil
		},
	}
}
