package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version and what it was built with",
		Example: "  preadmit version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "preadmit %s\nkubernetes %s\nkustomize %s\n%s %s/%s\n",
				mainVersion(info), moduleVersion(info, "k8s.io/kubernetes"),
				moduleVersion(info, "sigs.k8s.io/kustomize/api"),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// mainVersion returns the version of preadmit, which the Go command adds to the binary: a tag,
// a pseudo-version of a commit, or "devel".
func mainVersion(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// moduleVersion returns the version of a dependency, "unknown" in a program that is built
// without modules.
func moduleVersion(info *debug.BuildInfo, path string) string {
	if info == nil {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == path {
			if dep.Replace != nil {
				return dep.Replace.Version
			}
			return dep.Version
		}
	}
	return "unknown"
}
