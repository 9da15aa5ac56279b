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
	// Input is what the program finds on its standard input, and after it what InputFrom returns, if
	// that is set. The caller closes it when the program has ended.
	Input     []byte
	InputFrom io.Reader
	Limits    Limits
	// BestEffort continues where the system cannot refuse everything; Check returns what
	// it cannot. Without it that is an error.
	BestEffort bool
}

// Limits bound what the processes of a jail may use. Zero is no limit. The context of
// Start limits the time.
type Limits struct {
	// Memory is what all of them together may have for themselves, in bytes.
	Memory int64
	// CPU is the processor time of each, rounded up to seconds.
	CPU time.Duration
}

const (
	// maxOutput bounds what a program may print on its standard streams, in bytes.
	// Results have a pipe of their own.
	maxOutput = 16 << 20
	// maxProcesses bounds the processes of a jail.
	maxProcesses = 64
)

// Reasons to end a program, besides the end of its context.
var (
	ErrMemory    = errors.New("took more memory than it may")
	ErrOutput    = fmt.Errorf("printed more than %d MiB", maxOutput>>20)
	ErrProcesses = fmt.Errorf("started more than %d processes", maxProcesses)
)

// UnavailableError says that the jail cannot be built.
type UnavailableError struct {
	// Why says what the system lacks and what to do about it.
	Why string
}

func (e *UnavailableError) Error() string { return "build the jail: " + e.Why }

// Ended is how a program ended.
type Ended struct {
	// Cause is why it was killed: one of the errors above or the cause of the context's
	// end. It is nil when the program ended by itself.
	Cause error
	// Code is its exit code, or -1 when a signal ended it.
	Code int
	// Signal is the name of that signal.
	Signal string
	// CPU is the processor time that it and its children that ended before used.
	CPU time.Duration
	// Output is the beginning and the end of what it printed on its standard streams,
	// which may be anything.
	Output string
}

// Child is a program in a jail.
type Child struct {
	// Results is what the program writes to the file that Enter returned. It ends when
	// the program and all it started have ended.
	Results io.Reader

	kill context.CancelCauseFunc
	done chan struct{}
	end  Ended
}

// Kill ends the program, and all it started, for a reason. The first reason counts.
func (c *Child) Kill(why error) { c.kill(why) }

// Ended is closed when the program and all it started have ended.
func (c *Child) Ended() <-chan struct{} { return c.done }

// Wait waits until the program and all it started have ended. Only processes that
// another process adopted can be left then, see AdoptOrphans. It does not kill.
func (c *Child) Wait() Ended {
	<-c.done
	return c.end
}
