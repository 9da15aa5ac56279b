package main

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/spf13/cobra"
)

// childCommand is the name of the command that newChildCommand returns.
const childCommand = "render-root"

// newChildCommand returns the command that renders one root in a process of its own, for
// render.Isolate. It is not for users.
func newChildCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:    childCommand,
		Short:  "Render the root that stdin names (used by preadmit itself)",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return kustomize.ChildMain(cmd.Context(), p.Stdin, p.Stdout)
		},
	}
}

// renderOptions returns the options of rendering for a run.
func renderOptions(p Process, loadRestrictor string, cache *render.Cache) render.Options {
	opts := render.Options{LoadRestrictor: render.LoadRestrictor(loadRestrictor), Cache: cache}
	if p.Executable != "" {
		opts.Isolate = kustomize.Isolate(p.Executable, childCommand)
	}
	return opts
}
