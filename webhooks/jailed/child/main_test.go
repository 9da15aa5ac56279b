package child

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// TestMain makes the test binary also the program in the jail, and the one that renders a
// root by itself.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		testall.Heap()
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "scan-jailed":
		err = childMain()
	case "render-root":
		err = sources.ChildMain(context.Background(), os.Stdin, os.Stdout, os.Stderr)
	default:
		testall.Heap()
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func childMain() error {
	results, err := jail.Enter()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return Main(context.Background(), os.Stdin, results, isolate.Program(program, "render-root"), nil)
}

// testScanner returns a scanner that runs the test binary.
func testScanner(t *testing.T, limits jailed.Limits) *jailed.Scanner {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := jail.Check(); err != nil {
		t.Skip(err)
	}
	return &jailed.Scanner{Program: program, Args: []string{"scan-jailed"}, Limits: limits}
}
