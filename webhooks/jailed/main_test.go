package jailed

import (
	"fmt"
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/jail"
)

// TestMain makes the test binary also a child that a repository has taken over.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "forge" {
		os.Exit(m.Run())
	}
	if err := forge(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// testScanner returns a scanner that runs the test binary.
func testScanner(t *testing.T, limits Limits) *Scanner {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := jail.Check(); err != nil {
		t.Skip(err)
	}
	return &Scanner{Program: program, Limits: limits}
}
