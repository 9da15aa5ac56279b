package main

import (
	"errors"
	"fmt"
)

// Exit codes. Zero means that everything was judged that can be, and that nothing fails the
// run.
const (
	exitClean      = 0
	exitFindings   = 1 // findings at or above --fail-on
	exitUsage      = 2 // wrong flags, arguments or configuration
	exitIncomplete = 3 // the scan could not be completed
)

// errFindings ends a run with findings, after its report is written.
var errFindings = errors.New("findings at or above --fail-on")

// exitError is an error with the code to exit with.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usagef returns an error that the user can correct on the command line or in the
// configuration.
func usagef(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}
