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
	// Env is the complete environment, for settings of the Go runtime.
	Env []string
	// Read are files, and directories with everything below them, that the program may read.
	Read []string
	// Input is the program's standard input, followed by the content of InputFrom if it is set.
	// The caller closes InputFrom when the program has ended.
	Input     []byte
	InputFrom io.Reader
	Limits    Limits
	// BestEffort continues if the system does not support all restrictions, which Check
	// reports. Otherwise that is an error.
	BestEffort bool
}

// Limits limit the processes of a jail. Zero means no limit. The context of
// Start limits the time.
type Limits struct {
	// Memory is the maximum private memory of all of them together, in bytes.
	Memory int64
	// CPU is the maximum processor time of each, rounded up to seconds.
	CPU time.Duration
}

const (
	// maxOutput limits the output of a program on its standard streams, in bytes.
	// Results have a pipe of their own.
	maxOutput = 16 << 20
	// maxProcesses limits the processes of a jail.
	maxProcesses = 64
)

// Causes for which a program is killed, besides the end of its context.
var (
	ErrMemory    = errors.New("took more memory than it may")
	ErrOutput    = fmt.Errorf("printed more than %d MiB", maxOutput>>20)
	ErrProcesses = fmt.Errorf("started more than %d processes", maxProcesses)
)

// UnavailableError means that the jail cannot be built.
type UnavailableError struct {
	// Why is what the system lacks and what to do about it.
	Why string
}

func (e *UnavailableError) Error() string { return "build the jail: " + e.Why }

// Ended describes how a program ended.
type Ended struct {
	// Cause is why it was killed: one of the errors above or the cause of the context's
	// end. It is nil if the program ended by itself.
	Cause error
	// Code is its exit code, or -1 when a signal ended it.
	Code int
	// Signal is the name of the signal that ended it, or "".
	Signal string
	// CPU is the processor time of the program and of its children that it waited for.
	CPU time.Duration
	// Output is the beginning and the end of its output on the standard streams, which may
	// be anything.
	Output string
}

// Child is a program in a jail.
type Child struct {
	// Results has what the program writes to the file that Enter returned. It reaches EOF when
	// the program and all processes that it started have ended.
	Results io.Reader

	kill context.CancelCauseFunc
	done chan struct{}
	end  Ended
}

// Kill kills the program and all processes that it started. Only the first reason counts.
func (c *Child) Kill(why error) { c.kill(why) }

// Ended returns a channel that is closed when the program and all its processes have ended.
func (c *Child) Ended() <-chan struct{} { return c.done }

// Wait waits until the program and all processes that it started have ended, except those that
// were adopted by another process; see AdoptOrphans. It does not kill.
func (c *Child) Wait() Ended {
	<-c.done
	return c.end
}
