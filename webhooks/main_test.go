package webhooks

import (
	"fmt"
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/jail"
)

// jailedCommand has the test binary be the program that enters a jail.
const jailedCommand = "enter-jail"

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != jailedCommand {
		os.Exit(m.Run())
	}
	if _, err := jail.Enter(os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// jailable returns the options of a service whose scans can be jailed.
func jailable(o Options) Options {
	o.Program, o.Args = "/proc/self/exe", []string{jailedCommand}
	return o
}
