package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to stop before it is killed.
const stopTimeout = 5 * time.Second

// process is a running program.
type process struct {
	name string
	cmd  *exec.Cmd
	log  *tail
	done chan struct{}
	err  error // the error of Wait, set when done is closed
}

// start starts a program. Its standard output goes to stdout, and the end of its log is
// kept for error messages.
func start(name, path string, stdout io.Writer, args ...string) (*process, error) {
	p := &process{name: name, log: &tail{}, done: make(chan struct{})}
	p.cmd = exec.Command(path, args...)
	p.cmd.Stdout, p.cmd.Stderr = stdout, p.log
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop stops the process, and kills it if necessary.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// await polls until ready returns nil. It fails when the process or ctx ends.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	var last error
	for {
		if last = ready(ctx); last == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended (%v):\n%s", p.name, p.err, p.log)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w:\n%s", p.name, errors.Join(ctx.Err(), last), p.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tail is a writer that keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// tailSize is how many bytes of a log are kept.
const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append([]byte(nil), t.data[over:]...)
	}
	return len(b), nil
}

// String returns the kept bytes, from the start of a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := t.data
	if _, after, cut := bytes.Cut(data, []byte("\n")); cut && len(data) == tailSize {
		data = after
	}
	return string(data)
}
