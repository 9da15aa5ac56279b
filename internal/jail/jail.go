// Package jail runs a program of ours on input that may take it over: with no
// environment, no files but those it is given, no network, no other process to talk
// to, and within limits.
//
// The program is the caller's own, started again. It calls Enter before it reads
// anything, which shuts the door from inside: it gives up its capabilities, and has
// the kernel (Landlock for files, seccomp for system calls, resource limits) refuse
// the rest from then on, to it and to everything it starts. Then it executes itself, so
// that all threads of the program that goes on were born in the jail. From outside the
// parent watches memory and output, and kills the whole process group.
//
// What stays possible inside: to use the processor and memory up to the limits, to
// execute the program itself, to say what it likes to its parent, and to ask whether a
// path exists and whose it is (Linux has no way to refuse stat).
package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Command is a program to start in a jail. It has to call Enter.
type Command struct {
	// Program is the file to execute, and Args are its arguments.
	Program string
	Args    []string
	// Env is the whole environment, for settings of the Go runtime.
	Env []string
	// Read are files, and directories with all below, that the program may read.
	Read []string
	// Input is what the program finds on its standard input.
	Input  []byte
	Limits Limits
	// BestEffort goes on where the system cannot refuse everything; Check tells what it
	// cannot. Otherwise that is an error.
	BestEffort bool
}

// Limits bound what the processes of a jail may use. Zero is no limit. The time is that
// of the context.
type Limits struct {
	// Memory is what all of them may have for themselves, in bytes.
	Memory int64
	// CPU is the processor time of each, rounded up to seconds.
	CPU time.Duration
}

const (
	// maxSaid bounds what a program may print on its standard streams, in bytes. It has
	// a pipe for results.
	maxSaid = 16 << 20
	// maxProcesses bounds the processes of a jail.
	maxProcesses = 64
)

// Reasons to end a program, besides the end of its context.
var (
	ErrMemory    = errors.New("took more memory than it may")
	ErrSaid      = fmt.Errorf("printed more than %d MiB", maxSaid>>20)
	ErrProcesses = fmt.Errorf("started more than %d processes", maxProcesses)
)

// UnavailableError says that the jail cannot be built.
type UnavailableError struct {
	// Why says what the system lacks and what to do about it.
	Why string
}

func (e *UnavailableError) Error() string { return "build the jail: " + e.Why }

// Ended tells how a program ended.
type Ended struct {
	// Cause is why it was killed: one of the errors above or the cause of the context's
	// end. It is nil when the program ended by itself.
	Cause error
	// Code is its exit code, or -1 when a signal ended it.
	Code int
	// Signal is the name of that signal.
	Signal string
	// CPU is the processor time it used, with that of its children which ended before.
	CPU time.Duration
	// Said is the beginning and the end of what it printed on its standard streams,
	// which may be anything.
	Said string
}

// Child is a program in a jail.
type Child struct {
	// Results is what the program writes to the file that Enter gave it. It ends when
	// the program and all it started have.
	Results io.Reader

	kill context.CancelCauseFunc
	done chan struct{}
	end  Ended
}

// Kill ends the program, and all it started, for a reason. The first reason counts.
func (c *Child) Kill(why error) { c.kill(why) }

// Ended is closed when the program and all it started have ended.
func (c *Child) Ended() <-chan struct{} { return c.done }

// Wait waits until the program and all it started have ended; then what is still there
// of it are processes that somebody else adopted, see AdoptOrphans. It does not kill.
func (c *Child) Wait() Ended {
	<-c.done
	return c.end
}
