package cli

import (
	"context"
	"io"
	"net"

	"github.com/preadmit/preadmit/scanner/release"
)

// Process is the process that a command runs in.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns an environment variable, empty if it is not set.
	Getenv func(name string) string
	// Environ are all environment variables, as os.Environ returns them. It may be nil.
	Environ []string
	// Executable is the file of the program, to run child processes for roots that need one.
	// If it is empty, such roots are indeterminate.
	Executable string
	// Args are the arguments of the command, for a child process that does a part of it.
	Args []string
	// Own is set if the process runs only this command, so that it may imitate another release
	// of Kubernetes.
	Own bool
	// Part is the part of the command that this child process does; nil for all of it.
	Part *Part
	// Lasting is called by a command that takes its own time to end after an interrupt. It may
	// be nil.
	Lasting func()
	// Dial makes the connections for fetching, in tests; nil for those of the system.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Part is the part of a command that a child process does.
type Part struct {
	// Release is the release of Kubernetes whose targets it judges. It writes the result to
	// stdout, for the parent process.
	Release release.Release `json:"release"`
	// Whole is set if the process runs the whole command instead.
	Whole bool `json:"whole,omitempty"`
	// From is the release before an upgrade. If it is set, only targets with this release are judged.
	From *release.Release `json:"from,omitempty"`
	// Cache is the directory of the cache that the processes share.
	Cache string `json:"cache,omitempty"`
	// Shared is the directory for other results that the processes share.
	Shared string `json:"shared,omitempty"`
}
