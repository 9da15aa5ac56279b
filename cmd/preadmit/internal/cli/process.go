package cli

import (
	"context"
	"io"
	"net"

	"github.com/preadmit/preadmit/scanner/release"
)

// Process is the process that the command runs in.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns an environment variable, empty if it is not set.
	Getenv func(name string) string
	// Environ are all environment variables, as os.Environ returns them. It may be nil.
	Environ []string
	// Executable is the file of the program, to start it again for a root that needs a
	// process of its own. If it is empty, such roots are indeterminate.
	Executable string
	// Args are the arguments of the command, for a process that does a part of it.
	Args []string
	// Own is set where the process runs the one command, so that it may be made to imitate another
	// release of Kubernetes.
	Own bool
	// Part is what the process does of a command of another process; nil for all of it.
	Part *Part
	// Lasting is called by a command that ends by itself, in its own time, after it is
	// interrupted. It may be nil.
	Lasting func()
	// Dial makes the connections of what is fetched instead of the system; nil but in tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Part is what a process does of a command.
type Part struct {
	// Release is the release of Kubernetes whose targets it judges. What it says of them goes to
	// stdout, for the process that runs the command.
	Release release.Release `json:"release"`
	// Whole is set where the process does all of the command instead.
	Whole bool `json:"whole,omitempty"`
	// From is set where of an upgrade only the targets count that have this release before it.
	From *release.Release `json:"from,omitempty"`
	// Cache is the directory of a cache that the processes share.
	Cache string `json:"cache,omitempty"`
	// Shared is the directory in which the processes keep what they find out for one another.
	Shared string `json:"shared,omitempty"`
}
