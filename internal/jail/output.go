package jail

import (
	"io"
	"sync"
)

// keptOutput is how much of the beginning and of the end of a program's output is kept, in bytes
// each.
const keptOutput = 8 << 10

// output keeps the beginning and the end of what is written to it.
type output struct {
	mu          sync.Mutex
	first, last []byte
	total       int
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += len(p)
	rest := p
	if free := keptOutput - len(o.first); free > 0 {
		n := min(free, len(rest))
		o.first, rest = append(o.first, rest[:n]...), rest[n:]
	}
	o.last = append(o.last, rest...)
	if over := len(o.last) - keptOutput; over > 0 {
		o.last = append(o.last[:0], o.last[over:]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total > len(o.first)+len(o.last) {
		return string(o.first) + "\n...\n" + string(o.last)
	}
	return string(o.first) + string(o.last)
}

// copyFrom copies the output of a program until its end, and calls tooMuch when it exceeds
// maxOutput.
func (o *output) copyFrom(from io.Reader, tooMuch func()) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		_, _ = o.Write(buffer[:n])
		if o.total > maxOutput {
			tooMuch()
		}
		if err != nil {
			return
		}
	}
}
