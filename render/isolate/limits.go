package isolate

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/preadmit/preadmit/internal/cputime"
)

// Prefixes of the lines in which a child reports what it works on, and which limit it exceeded.
const (
	atMark   = "at: "
	overMark = "over: "
)

const (
	// maxMemory is the limit for memory in use of a bounded job, in bytes.
	maxMemory = 512 << 20
	// maxTime is the limit for processor time of a bounded job.
	maxTime = 20 * time.Second
	// maxStack is the limit for the stack of a goroutine, in bytes.
	maxStack = 128 << 20
	// sampleEvery is how often the limits of a bounded job are checked.
	sampleEvery = 10 * time.Millisecond
)

var (
	tooMuchMemory = fmt.Sprintf("it takes more than %d MiB of memory", maxMemory>>20)
	tooMuchTime   = fmt.Sprintf("it takes more than %v of processor time", maxTime)
)

// Process is the process that runs a job.
type Process struct{ stderr io.Writer }

// Bound ends the process when it exceeds the limits of memory or processor time of a job. It is for work that cannot be
// bounded otherwise.
func (p *Process) Bound() {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxMemory * 3 / 4)
	limitResources()
	start := cputime.Used()
	go func() {
		for range time.Tick(sampleEvery) {
			switch {
			case heapInUse() > maxMemory:
				p.over(tooMuchMemory)
			case cputime.Used()-start > maxTime:
				p.over(tooMuchTime)
			}
		}
	}()
}

// At reports what is worked on from now on, for the error if the process dies.
func (p *Process) At(what string) { _, _ = fmt.Fprintf(p.stderr, "%s%q\n", atMark, what) }

func (p *Process) over(why string) {
	_, _ = fmt.Fprintln(p.stderr, overMark+why)
	os.Exit(1)
}

// heapInUse returns the memory of objects that are in use or not yet collected, in bytes.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
