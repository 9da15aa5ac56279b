package jailed

// relay passes progress on to a Progress that may be slow, without blocking the child: if several
// reports arrive during a call, only the last is passed on.
type relay struct {
	progress Progress
	latest   chan StageMessage
	over     chan struct{}
}

// newRelay returns a relay that passes progress on until end is called.
func newRelay(progress Progress) *relay {
	b := &relay{progress: progress, latest: make(chan StageMessage, 1), over: make(chan struct{})}
	go func() {
		defer close(b.over)
		for s := range b.latest {
			b.progress(s.Name, s.Done, s.Total)
		}
	}()
	return b
}

// put is called by one goroutine, which also calls end.
func (b *relay) put(s StageMessage) {
	select {
	case <-b.latest: // replaced by s
	default:
	}
	b.latest <- s
}

// end waits until the last progress was passed on. Afterwards none is.
func (b *relay) end() {
	close(b.latest)
	<-b.over
}
