package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
)

// Limits bounds the time and memory of a scan. Zero means no limit.
type Limits struct {
	timeout time.Duration
	memory  int64 // MiB of live heap

	// heap returns the bytes of the heap that are in use; nil means heapInUse.
	heap func() uint64
}

const (
	defaultTimeout = 10 * time.Minute
	defaultMemory  = 4096
	// sampleEvery is the interval between samples of memory usage.
	sampleEvery = 50 * time.Millisecond
	// endWithin is how long a scan may take to stop once its context ends. Code that cannot
	// be interrupted (kustomize, Kubernetes' validation) keeps running until the process ends.
	endWithin = time.Second
)

// NewLimits returns the default limits.
func NewLimits() Limits {
	return Limits{timeout: defaultTimeout, memory: defaultMemory}
}

// Register declares the flags.
func (l *Limits) Register(flags *pflag.FlagSet) {
	flags.DurationVar(&l.timeout, "timeout", l.timeout, "end a scan with exit code 3 after this `DURATION`; 0 for no limit")
	flags.Int64Var(&l.memory, "memory-limit", l.memory, "end a scan with exit code 3 if it needs more than this many `MIB` of memory; 0 for no limit")
}

// Check returns an error if a limit is negative.
func (l *Limits) Check() error {
	switch {
	case l.timeout < 0:
		return Usagef("--timeout is negative: give a duration like 10m, or 0 for no limit")
	case l.memory < 0:
		return Usagef("--memory-limit is negative: give a number of MiB, or 0 for no limit")
	}
	return nil
}

// Within runs a scan within limits and returns its result. If it exceeds one, the error has the activity from doing.
// The scan may then still be running, so it must not write to variables of its caller.
func Within[T any](ctx context.Context, l *Limits, doing *Activity, scan func(context.Context) (T, error)) (none T, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	exceeded, start := l.watch(ctx), time.Now()
	type result struct {
		value T
		err   error
	}
	done, crashed := make(chan result, 1), make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				crashed <- &Crash{p, debug.Stack()}
			}
		}()
		v, err := scan(ctx)
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		if l.timeout > 0 && time.Since(start) > l.timeout { // watch has not noticed it yet
			return none, stopped(doing.String(), l.timeLimit())
		}
		return r.value, r.err
	case p := <-crashed:
		panic(p)
	case limit := <-exceeded:
		was := doing.String()
		cancel()
		select {
		case <-done:
		case <-crashed:
		case <-time.After(endWithin):
		}
		return none, stopped(was, limit)
	}
}

// Crash is a panic of another goroutine, with its stack.
type Crash struct {
	Value any
	Stack []byte
}

// String returns the panic's value as text.
func (c *Crash) String() string { return fmt.Sprint(c.Value) }

// StackOf returns the stack of a recovered panic. Call it in the function that called recover.
func StackOf(recovered any) []byte {
	if c, ok := recovered.(*Crash); ok {
		return c.Stack
	}
	return debug.Stack()
}

// stopped returns the error of a scan that exceeded a limit.
func stopped(doing, limit string) error {
	return &ExitError{Code: ExitIncomplete, Err: fmt.Errorf("scan: stopped while %s: it took more than %s. Nothing is known of what was not judged", doing, limit)}
}

// timeLimit describes the time limit for messages.
func (l *Limits) timeLimit() string { return fmt.Sprintf("the %s of --timeout", l.timeout) }

// watch returns a channel that receives a description of the first limit that is exceeded.
func (l *Limits) watch(ctx context.Context) <-chan string {
	exceeded := make(chan string, 1)
	go func() {
		var timeout <-chan time.Time
		if l.timeout > 0 {
			timer := time.NewTimer(l.timeout)
			defer timer.Stop()
			timeout = timer.C
		}
		samples := time.NewTicker(sampleEvery)
		defer samples.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timeout:
				exceeded <- l.timeLimit()
				return
			case <-samples.C:
				if l.outOfMemory() {
					exceeded <- fmt.Sprintf("the %d MiB of --memory-limit", l.memory)
					return
				}
			}
		}
	}()
	return exceeded
}

// outOfMemory reports whether more memory is in use than allowed, not counting garbage.
func (l *Limits) outOfMemory() bool {
	limit, heap := uint64(l.memory)<<20, l.heap
	if heap == nil {
		heap = heapInUse
	}
	if l.memory == 0 || heap() <= limit {
		return false
	}
	runtime.GC()
	return heap() > limit
}

// heapInUse returns the memory, in bytes, of objects that are live or not yet collected.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Activity records what a scan is doing, for messages.
type Activity struct {
	mu      sync.Mutex
	stage   string
	current map[string]int
}

// NewActivity returns the activity of a scan that starts.
func NewActivity() *Activity { return &Activity{stage: "starting", current: map[string]int{}} }

// stages has descriptions for the stages of a scan.
var stages = map[string]string{
	"discover": "finding roots", "render base": "rendering the base", "render head": "rendering the head", "judge": "judging", "locate": "locating what was found", "prove": "proving locations",
}

// Update is scanner.Input.Progress.
func (a *Activity) Update(stage string, done, total int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stage = fmt.Sprintf("%s (%d of %d done)", cmp.Or(stages[stage], stage), done, total)
}

// Rendering is scanner.Input.Rendering.
func (a *Activity) Rendering(root, tree string) (done func()) {
	return a.Begin("root " + root + " of the " + tree)
}

// Begin records that work on something has started. Call done when it ends.
func (a *Activity) Begin(what string) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current[what]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.current[what]--; a.current[what] == 0 {
			delete(a.current, what)
		}
	}
}

// String returns the stage, and what is being worked on.
func (a *Activity) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := a.stage
	for i, what := range slices.Sorted(maps.Keys(a.current)) {
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + what
	}
	return text
}
