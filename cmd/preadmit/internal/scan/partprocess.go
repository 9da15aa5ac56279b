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

// PartCommand is the name of the command that does a part of another one.
const PartCommand = "part"

// AskPart has another process do a part of the command of a process, with this standard input.
func AskPart(ctx context.Context, p cli.Process, of cli.Part, stdin []byte) (*scanner.Part, error) {
	other, err := startPart(ctx, p, of)
	if err != nil {
		return nil, err
	}
	defer other.end()
	return other.judge(ctx, stdin)
}

// partProcess is a process that does a part of a command once it is told to.
type partProcess struct {
	of             cli.Part
	said           io.Writer
	command        *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr bytes.Buffer
}

// startPart starts a process that will do a part of the command of a process.
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

// goAhead is what such a process reads before its standard input.
const goAhead = "\n"

// Await returns once a process that does a part is to do it; begin is false when it is not.
func Await(stdin io.Reader) (begin bool) {
	_, err := io.ReadFull(stdin, make([]byte, len(goAhead)))
	return err == nil
}

// end ends a process that was not told to judge, and waits for it.
func (o *partProcess) end() {
	_ = o.stdin.Close()
	_ = o.command.Wait() // which judge may have done
}

// judge has the process do its part, with this standard input.
func (o *partProcess) judge(ctx context.Context, stdin []byte) (*scanner.Part, error) {
	_, _ = o.stdin.Write(append([]byte(goAhead), stdin...)) // one that does not read it to its end says why, or needs it not
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

// partCommand returns the command that does a part of the command of a process.
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
