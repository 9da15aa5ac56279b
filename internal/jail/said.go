package jail

import (
	"io"
	"sync"
)

// keptSaid is how much is kept of the beginning and of the end of what a program
// says, in bytes each.
const keptSaid = 8 << 10

// said keeps the beginning and the end of what is written to it.
type said struct {
	mu          sync.Mutex
	first, last []byte
	total       int
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += len(p)
	rest := p
	if room := keptSaid - len(s.first); room > 0 {
		n := min(room, len(rest))
		s.first, rest = append(s.first, rest[:n]...), rest[n:]
	}
	s.last = append(s.last, rest...)
	if over := len(s.last) - keptSaid; over > 0 {
		s.last = append(s.last[:0], s.last[over:]...)
	}
	return len(p), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total > len(s.first)+len(s.last) {
		return string(s.first) + "\n...\n" + string(s.last)
	}
	return string(s.first) + string(s.last)
}

// listen copies what a program says until it ends, or says too much.
func (s *said) listen(from io.Reader, tooMuch func()) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		_, _ = s.Write(buffer[:n])
		if s.total > maxSaid {
			tooMuch()
		}
		if err != nil {
			return
		}
	}
}
