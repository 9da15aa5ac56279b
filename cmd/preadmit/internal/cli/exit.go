package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
)

// Exit codes. Zero means that everything that can be judged was judged, and that nothing fails
// the run.
const (
	ExitClean      = 0
	ExitFindings   = 1 // findings at or above --fail-on
	ExitUsage      = 2 // wrong flags, arguments or configuration
	ExitIncomplete = 3 // the scan could not be completed
)

// ErrFindings ends a run with findings, after its report is written.
var ErrFindings = errors.New("findings at or above --fail-on")

// ExitError is an error with the code to exit with.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string { return e.Err.Error() }
func (e *ExitError) Unwrap() error { return e.Err }

// CommandError ends a run with the exit code of a command that it ran. The command has already
// printed the reason.
type CommandError struct{ Code int }

func (e *CommandError) Error() string { return fmt.Sprintf("the command ended with %d", e.Code) }

// Usagef returns an error that the user can correct on the command line or in the
// configuration. An *fs.PathError among args gets a message for users.
func Usagef(format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(*fs.PathError); ok {
			args[i] = &pathError{err}
		}
	}
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// pathError is an error about a path that the user gave.
type pathError struct{ *fs.PathError }

func (e *pathError) Unwrap() error { return e.PathError }

func (e *pathError) Error() string {
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		return e.PathError.Error() + ": name one that this user may read"
	case !errors.Is(e.Err, fs.ErrNotExist):
		return e.PathError.Error()
	case filepath.IsAbs(e.Path):
		return fmt.Sprintf("there is no file or directory %s: check the name", e.Path)
	}
	return fmt.Sprintf("there is no file or directory %s: check the name, and that it is relative to the current directory", e.Path)
}

// ExitCode prints an error for the user and returns the exit code for it. The text, which may quote names and
// content of a repository, is escaped.
func ExitCode(stderr io.Writer, err error) int {
	exit, command := new(ExitError), new(CommandError)
	switch {
	case err == nil:
		return ExitClean
	case errors.As(err, &command):
		return command.Code
	case errors.Is(err, ErrFindings):
		return ExitFindings
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(stderr, "preadmit: interrupted")
		return ExitIncomplete
	}
	_, _ = fmt.Fprintln(stderr, strings.Join(escape.GuardedLines("preadmit: "+err.Error()), "\n"))
	if errors.As(err, &exit) {
		return exit.Code
	}
	return ExitIncomplete
}
