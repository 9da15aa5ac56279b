package cli

import (
	"context"
	"io"
	"net"
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
	// Lasting is called by a command that ends by itself, in its own time, after it is
	// interrupted. It may be nil.
	Lasting func()
	// Dial makes the connections of what is fetched instead of the system; nil but in tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}
