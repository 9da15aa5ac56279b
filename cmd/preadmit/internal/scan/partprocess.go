package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/scanner"
)

// PartCommand is the name of the hidden command that does a part of another one.
const PartCommand = "part"

// RunPart starts a child process that does a part of the command of p, and returns its result. stdin
// is its standard input.
func RunPart(ctx context.Context, p cli.Process, of cli.Part, stdin []byte) (*scanner.Part, error) {
	other, err := startPart(ctx, p, of)
	if err != nil {
		return nil, err
	}
	defer other.end()
	return other.judge(ctx, stdin)
}

// partProcess is a child process that does a part of a command once judge is called.
type partProcess struct {
	of             cli.Part
	said           io.Writer
	command        *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr bytes.Buffer
}

// startPart starts a child process for a part of the command of p. It waits until judge is called.
func startPart(ctx context.Context, p cli.Process, of cli.Part) (*partProcess, error) {
	c, err := partCommand(ctx, p, of)
	if err != nil {
		return nil, err
	}
	other := &partProcess{of: of, said: p.Stderr, command: c}
	c.Stdout, c.Stderr = &other.stdout, &other.stderr
	if other.stdin, err = c.StdinPipe(); err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start a process that judges as Kubernetes %s: %w", of.Release, err)
	}
	return other, nil
}

// goAhead precedes the standard input of a child process. It signals to start judging.
const goAhead = "\n"

// Await waits in a child process for the signal to start; begin is false if stdin ends without it.
func Await(stdin io.Reader) (begin bool) {
	_, err := io.ReadFull(stdin, make([]byte, len(goAhead)))
	return err == nil
}

// end ends a process that was not signaled to judge, and waits for it.
func (o *partProcess) end() {
	_ = o.stdin.Close()
	_ = o.command.Wait() // fails if judge has already waited
}

// judge signals the process to judge, and returns its result. stdin is its standard input.
func (o *partProcess) judge(ctx context.Context, stdin []byte) (*scanner.Part, error) {
	_, _ = o.stdin.Write(append([]byte(goAhead), stdin...)) // if it fails, the process has ended, with an error, or does not need stdin
	_ = o.stdin.Close()
	exit := new(exec.ExitError)
	switch err := o.command.Wait(); {
	case ctx.Err() != nil:
		return nil, context.Canceled
	case errors.As(err, &exit) && !exit.Exited():
		return nil, &cli.ExitError{Code: cli.ExitIncomplete, Err: fmt.Errorf("for Kubernetes %s: the process that judges ended by itself (%s), for want of memory or because it was killed", o.of.Release, exit)}
	case errors.As(err, &exit):
		said := strings.TrimPrefix(strings.TrimSpace(o.stderr.String()), "preadmit: ")
		return nil, &cli.ExitError{Code: max(exit.ExitCode(), cli.ExitUsage), Err: fmt.Errorf("for Kubernetes %s: %s", o.of.Release, said)}
	case err != nil:
		return nil, fmt.Errorf("run a process that judges as Kubernetes %s: %w", o.of.Release, err)
	}
	_, _ = io.Copy(o.said, &o.stderr)
	part := new(scanner.Part)
	if err := json.Unmarshal(o.stdout.Bytes(), part); err != nil {
		return nil, fmt.Errorf("read what is said as Kubernetes %s: %w", o.of.Release, err)
	}
	return part, nil
}

// partCommand returns the command of a child process that does a part of the command of p.
func partCommand(ctx context.Context, p cli.Process, part cli.Part) (*exec.Cmd, error) {
	if p.Executable == "" {
		return nil, fmt.Errorf("another version of Kubernetes (%s) takes another process, and the file of this program is not known", part.Release)
	}
	spec, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("encode the part: %w", err)
	}
	c := exec.CommandContext(ctx, p.Executable, append([]string{PartCommand, string(spec)}, p.Args...)...)
	c.Env = p.Environ
	return c, nil
}
