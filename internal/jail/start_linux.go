package jail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Start starts the program and returns once it is in its jail. When ctx ends, all its
// processes are killed. The error is an *UnavailableError if the jail could not be built.
func (c *Command) Start(ctx context.Context) (*Child, error) {
	if err := Check(); err != nil && !c.BestEffort {
		return nil, err
	}
	ctx, kill := context.WithCancelCause(ctx)
	streams, err := openStreams()
	if err != nil {
		kill(nil)
		return nil, fmt.Errorf("start a jail: %w", err)
	}
	child := &Child{Results: streams.results, kill: kill, done: make(chan struct{})}
	started := make(chan error)
	go child.supervise(ctx, c, streams, started)
	if err := <-started; err != nil {
		kill(nil)
		streams.close()
		return nil, fmt.Errorf("start a jail: %w", err)
	}
	if err := awaitEntered(streams.results); err != nil {
		kill(err)
		return nil, notEntered(ctx, child.Wait())
	}
	return child, nil
}

// notEntered returns why a program ended before it entered its jail.
func notEntered(ctx context.Context, end Ended) error {
	if end.Cause != nil && ctx.Err() != nil && !errors.Is(end.Cause, errNotEntered) {
		return end.Cause
	}
	why := strings.TrimSpace(end.Output)
	if why == "" {
		why = fmt.Sprintf("the program ended with code %d, signal %q, and printed nothing", end.Code, end.Signal)
	}
	return &UnavailableError{Why: why}
}

var errNotEntered = errors.New("the program has not come into its jail")

// awaitEntered waits for the line that Enter writes first.
func awaitEntered(results io.Reader) error {
	got := make([]byte, len(entered))
	if _, err := io.ReadFull(results, got); err != nil || string(got) != entered {
		return errNotEntered
	}
	return nil
}

// streams are the parent's and the program's ends of the pipes.
type streams struct {
	input, output, results                  *os.File
	childInput, childOutput, childResultsTo *os.File
}

func openStreams() (*streams, error) {
	s := &streams{}
	var errs [3]error
	s.childInput, s.input, errs[0] = os.Pipe()
	s.output, s.childOutput, errs[1] = os.Pipe()
	s.results, s.childResultsTo, errs[2] = os.Pipe()
	if err := errors.Join(errs[:]...); err != nil {
		s.closeChild()
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) closeChild() {
	for _, f := range []*os.File{s.childInput, s.childOutput, s.childResultsTo} {
		_ = f.Close()
	}
}

func (s *streams) close() {
	for _, f := range []*os.File{s.input, s.output, s.results} {
		_ = f.Close()
	}
}

// supervise starts the program and returns when all its processes have ended. It locks its
// thread, since the kernel treats the end of the thread as the end of the parent.
func (c *Child) supervise(ctx context.Context, command *Command, s *streams, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(command.Program, command.Args...)
	cmd.Env = append(slices.Clone(command.Env), outside)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.childInput, s.childOutput, s.childOutput
	cmd.ExtraFiles = []*os.File{s.childResultsTo}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	err := cmd.Start()
	s.closeChild()
	started <- err
	if err != nil {
		return
	}
	out := &output{}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		out.copyFrom(s.output, func() { c.kill(ErrOutput) })
	}()
	go command.send(s.input)
	group := cmd.Process.Pid
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(ctx, group, command.Limits.Memory, over)
	}()
	awaitExit(group)
	// It is not reaped yet, so the number of the group is not reused.
	_ = unix.Kill(-group, unix.SIGKILL)
	close(over)
	<-watched
	reapGroup(group)
	_ = cmd.Wait()
	<-copied
	c.end = endOf(ctx, cmd.ProcessState, out)
	_ = s.input.Close()
	_ = s.output.Close()
	c.kill(nil)
	close(c.done)
}

// send writes the spec of the jail, and then the input.
func (c *Command) send(to io.WriteCloser) {
	defer to.Close()
	spec := spec{
		Read: c.Read, Env: c.Env, BestEffort: c.BestEffort,
		Parent: os.Getpid(), Memory: c.Limits.Memory, CPU: int64((c.Limits.CPU + time.Second - 1) / time.Second),
	}
	if json.NewEncoder(to).Encode(spec) != nil {
		return
	}
	if _, err := to.Write(c.Input); err == nil && c.InputFrom != nil {
		_, _ = io.Copy(to, c.InputFrom)
	}
}

// awaitExit waits until a process has ended, without reaping it.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// watchEvery is the interval between two measurements of a jail's memory.
const watchEvery = 100 * time.Millisecond

// watch kills the process group when its context ends, and ends the context when it exceeds a limit.
func (c *Child) watch(ctx context.Context, group int, memory int64, over <-chan struct{}) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			_ = unix.Kill(-group, unix.SIGKILL)
			return
		case <-ticker.C:
			used := usage(group)
			if memory > 0 && used.memory > memory {
				c.kill(ErrMemory)
			}
			if used.processes > maxProcesses {
				c.kill(ErrProcesses)
			}
		}
	}
}

func endOf(ctx context.Context, state *os.ProcessState, out *output) Ended {
	end := Ended{Code: state.ExitCode(), Output: out.String(), CPU: state.UserTime() + state.SystemTime()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		end.Signal = unix.SignalName(status.Signal())
		if status.Signal() == syscall.SIGKILL {
			end.Cause = context.Cause(ctx)
		}
	}
	return end
}
