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

// Marks of the lines in which a child says what it works on, and what it took too much of.
const (
	atMark   = "at: "
	overMark = "over: "
)

const (
	// maxMemory is what a bounded job may have in use, in bytes.
	maxMemory = 512 << 20
	// maxTime is the processor time of a bounded job.
	maxTime = 20 * time.Second
	// maxStack is the stack of a goroutine of it, in bytes.
	maxStack = 128 << 20
	// sampleEvery is how often a bounded job is looked at.
	sampleEvery = 10 * time.Millisecond
)

var (
	tooMuchMemory = fmt.Sprintf("it takes more than %d MiB of memory", maxMemory>>20)
	tooMuchTime   = fmt.Sprintf("it takes more than %v of processor time", maxTime)
)

// Process is the process that does a job.
type Process struct{ stderr io.Writer }

// Bound ends the process when it takes more memory or processor time than a job may. It is for
// work that cannot be bounded otherwise.
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

// At says what is worked on from now on, for the error if the process dies of it.
func (p *Process) At(what string) { _, _ = fmt.Fprintf(p.stderr, "%s%q\n", atMark, what) }

func (p *Process) over(why string) {
	_, _ = fmt.Fprintln(p.stderr, overMark+why)
	os.Exit(1)
}

// heapInUse is the memory of objects that are in use or not yet collected.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
