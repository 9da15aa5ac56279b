package playground

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/report"
)

// Processes judges requests in processes of their own, which serve one request after the other.
// A process that takes too long, or too much memory, is killed.
type Processes struct {
	// Program is preadmit's own executable, and Args the hidden command that judges in a jail.
	Program string
	Args    []string
	// Count is the maximum number of processes; 0 is 1.
	Count int
	// Memory is the limit of each, in bytes, and Time that of an answer; 0 is 1 GiB and 5 s.
	Memory int64
	Time   time.Duration
	// BestEffort allows a jail with the parts that the system supports. Plain are the arguments
	// without a jail, for a system that supports none; nil if a jail is required.
	BestEffort bool
	Plain      []string
	Log        *slog.Logger

	once  sync.Once
	slots chan struct{}
	// waiting limits the requests that wait for a process.
	waiting chan struct{}

	mu sync.Mutex
	// idle has processes without a request, the last used at the end; busy counts those that judge.
	idle []*process
	busy int
}

// maxWaiting is how many requests may wait for a process.
const maxWaiting = 32

// maxWait is how long a request waits for a process.
const maxWait = 15 * time.Second

// maxLine is the maximum size of an answer, in bytes.
const maxLine = 16 << 20

var (
	// ErrBusy means that too many requests wait.
	ErrBusy = errors.New("too many requests are being judged: try again in a moment")
	// ErrEnded means that the process died while judging.
	ErrEnded = errors.New("judging this took too long or too much memory: make the expressions or the object smaller")
)

func (p *Processes) init() {
	p.slots, p.waiting = make(chan struct{}, max(p.Count, 1)), make(chan struct{}, maxWaiting)
	if p.Memory == 0 {
		p.Memory = 1 << 30
	}
	if p.Time == 0 {
		p.Time = 5 * time.Second
	}
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
}

// Answer implements Judge.
func (p *Processes) Answer(ctx context.Context, r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) {
	p.once.Do(p.init)
	select {
	case p.waiting <- struct{}{}:
		defer func() { <-p.waiting }()
	default:
		return nil, ErrBusy
	}
	tooLong := time.NewTimer(maxWait)
	defer tooLong.Stop()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-tooLong.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	one, err := p.take(r.Version)
	if err != nil {
		return nil, err
	}
	answer, err := one.ask(ctx, r, p.Time)
	if err != nil {
		p.giveBack(nil)
		one.end()
		p.Log.Warn("a process of the playground ended", "error", err)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ErrEnded
	}
	p.giveBack(one)
	return answer, nil
}

// Close ends all idle processes.
func (p *Processes) Close() {
	p.once.Do(p.init)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(0)
}

// leave ends all idle processes except the n last used. The caller holds p.mu.
func (p *Processes) leave(n int) {
	for len(p.idle) > max(n, 0) {
		p.idle[0].end()
		p.idle = p.idle[1:]
	}
}

// Start starts a process before the first request.
func (p *Processes) Start() error {
	p.once.Do(p.init)
	one, err := p.take("")
	if err == nil {
		p.giveBack(one)
	}
	return err
}

// take returns an idle process for a version of Kubernetes, or a new one. For a new one, an idle one
// of another version may be ended.
func (p *Processes) take(version string) (*process, error) {
	p.mu.Lock()
	p.busy++
	for i := len(p.idle) - 1; i >= 0; i-- {
		one := p.idle[i]
		if one.version != version {
			continue
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		if one.waits() {
			p.mu.Unlock()
			return one, nil
		}
		one.end()
	}
	p.leave(max(p.Count, 1) - p.busy)
	p.mu.Unlock()
	var more []string
	if version != "" {
		more = []string{"--kubernetes-version=" + version}
	}
	one, err := p.jailed(more)
	unavailable := new(jail.UnavailableError)
	if errors.As(err, &unavailable) && p.Plain != nil {
		one, err = p.plain(more)
	}
	if err != nil {
		p.giveBack(nil)
		return nil, fmt.Errorf("start a process that judges: %w", err)
	}
	one.version = version
	return one, nil
}

// giveBack makes a process idle; nil for one that ended.
func (p *Processes) giveBack(one *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy--; one != nil {
		p.idle = append(p.idle, one)
	}
}

// process is a process that judges.
type process struct {
	in      io.WriteCloser
	answers chan []byte
	kill    func()
	// version is the version of Kubernetes that it emulates.
	version string
}

func (p *Processes) environment() []string {
	return []string{fmt.Sprintf("GOMEMLIMIT=%d", p.Memory/4*3), "GOTRACEBACK=single"}
}

// jailed starts a process in a jail.
func (p *Processes) jailed(more []string) (*process, error) {
	reader, writer := io.Pipe()
	c := jail.Command{
		Program: p.Program, Args: slices.Concat(p.Args, more), Env: p.environment(), InputFrom: reader,
		Limits: jail.Limits{Memory: p.Memory}, BestEffort: p.BestEffort,
	}
	child, err := c.Start(context.Background())
	if err != nil {
		_ = reader.Close()
		return nil, err
	}
	one := &process{in: writer, kill: func() { child.Kill(errors.New("it is not needed any more")) }}
	one.read(child.Results)
	go func() {
		end := child.Wait()
		_ = reader.CloseWithError(io.ErrClosedPipe)
		if end.Output != "" {
			p.Log.Debug("a process of the playground said", "said", end.Output)
		}
	}()
	return one, nil
}

// plain starts a process without a jail.
func (p *Processes) plain(more []string) (*process, error) {
	c := exec.Command(p.Program, slices.Concat(p.Plain, more)...)
	c.Env = p.environment()
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	one := &process{in: in, kill: func() { _ = c.Process.Kill(); _ = in.Close() }}
	one.read(out)
	go func() { _ = c.Wait() }() // reap it when it ends
	return one, nil
}

// read starts to pass on the lines of the process.
func (o *process) read(from io.Reader) {
	o.answers = make(chan []byte)
	go func() {
		defer close(o.answers)
		lines := bufio.NewReaderSize(from, 64<<10)
		for {
			var line bytes.Buffer
			for {
				part, err := lines.ReadSlice('\n')
				line.Write(part)
				if err == nil {
					break
				}
				if !errors.Is(err, bufio.ErrBufferFull) || line.Len() > maxLine {
					return
				}
			}
			o.answers <- line.Bytes()
		}
	}()
}

// waits reports whether an idle process waits for a request: it has not ended, and has sent nothing after its answer,
// which would be the answer to the next request.
func (o *process) waits() bool {
	select {
	case <-o.answers:
		return false
	default:
		return true
	}
}

// ask sends a request to the process and returns its answer.
func (o *process) ask(ctx context.Context, r *report.PlaygroundRequest, longest time.Duration) (*report.PlaygroundAnswer, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	written := make(chan error, 1)
	go func() {
		_, err := o.in.Write(append(data, '\n'))
		written <- err
	}()
	timer := time.NewTimer(longest)
	defer timer.Stop()
	for {
		select {
		case err := <-written:
			if err != nil {
				return nil, fmt.Errorf("ask it: %w", err)
			}
			written = nil
		case line, ok := <-o.answers:
			if !ok {
				return nil, errors.New("it ended without an answer")
			}
			answer := &report.PlaygroundAnswer{}
			if err := json.Unmarshal(line, answer); err != nil {
				return nil, fmt.Errorf("read its answer: %w", err)
			}
			return answer, nil
		case <-timer.C:
			return nil, fmt.Errorf("it took more than %v", longest)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// end ends the process.
func (o *process) end() {
	_ = o.in.Close()
	o.kill()
	go func() {
		for range o.answers { // so that the goroutine of read ends
		}
	}()
}
