package jailed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// monitor is the parent's knowledge of a running child. It is safe for concurrent
// use.
type monitor struct {
	// progress is nil if the caller of Scan gave no Progress.
	progress *relay
	// mostRoot is the maximum time for one root.
	mostRoot time.Duration

	mu       sync.Mutex
	stage    string
	working  map[int]work
	reported time.Time // when progress was reported last
}

// work is a root that is being rendered.
type work struct {
	root  string
	since time.Time
}

func newMonitor(progress Progress, mostRoot time.Duration) *monitor {
	w := &monitor{mostRoot: mostRoot, working: map[int]work{}}
	if progress != nil {
		w.progress = newRelay(progress)
	}
	return w
}

// end is called after the child's last message. Afterwards no progress is reported.
func (w *monitor) end() {
	if w.progress != nil {
		w.progress.end()
	}
}

// reportEvery is the minimum interval between two reports of progress of one stage.
const reportEvery = 250 * time.Millisecond

// take processes a message.
func (w *monitor) take(m *Message) error {
	if err := m.check(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case m.Begin != nil:
		if len(w.working) >= maxWorking {
			return fmt.Errorf("%w: more than %d roots at work", ErrForged, maxWorking)
		}
		w.working[m.Begin.ID] = work{string(m.Begin.Root), time.Now()}
	case m.End != nil:
		delete(w.working, m.End.ID)
	case m.Stage != nil:
		w.takeStage(m.Stage)
	}
	return nil
}

func (w *monitor) takeStage(s *StageMessage) {
	now := time.Now()
	if w.progress != nil && (s.Name != w.stage || now.Sub(w.reported) >= reportEvery) {
		w.progress.put(*s)
		w.reported = now
	}
	w.stage = s.Name
}

// suspects returns the roots that are being rendered, sorted, each once.
func (w *monitor) suspects() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var roots []string
	for _, working := range w.working {
		roots = append(roots, working.root)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// slow returns the root with the longest time, if that exceeds mostRoot.
func (w *monitor) slow(now time.Time) (root string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := w.mostRoot
	for _, working := range w.working {
		if age := now.Sub(working.since); age > longest {
			root, ok, longest = working.root, true, age
		}
	}
	return root, ok
}

// errTooMuch ends a child whose output exceeds its limit.
var errTooMuch = errors.New("said more than it may")

// answer is the last message of a child.
type answer struct {
	*Message
	report []byte
}

// listen reads the child's messages until its answer and the end of its output, or until an
// error. It returns io.EOF for a child that ended without an answer.
func (w *monitor) listen(results io.Reader, most int64) (*answer, error) {
	limited := &io.LimitedReader{R: results, N: most}
	from := bufio.NewReaderSize(limited, 64<<10)
	for {
		line, err := readLine(from)
		if err != nil {
			return nil, cutOff(err, limited)
		}
		m := &Message{}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(m); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrForged, err)
		}
		if err := w.take(m); err != nil {
			return nil, err
		}
		if m.Answer == nil && m.Lacks == nil && m.Mistake == nil && m.Failure == nil {
			continue
		}
		a := &answer{Message: m}
		if m.Answer != nil {
			if int64(m.Answer.Bytes) > limited.N+int64(from.Buffered()) {
				return nil, errTooMuch
			}
			a.report = make([]byte, m.Answer.Bytes)
			if _, err := io.ReadFull(from, a.report); err != nil {
				return nil, cutOff(err, limited)
			}
		}
		if n, err := io.Copy(io.Discard, from); n > 0 || err != nil {
			return nil, fmt.Errorf("%w: %d bytes after the answer", ErrForged, n)
		}
		return a, nil
	}
}

// cutOff returns errTooMuch if the limit of the output was reached, and io.EOF for a partial answer.
func cutOff(err error, limited *io.LimitedReader) error {
	if limited.N <= 0 {
		return errTooMuch
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// readLine reads a line of at most maxLine bytes.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errTooMuch
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
