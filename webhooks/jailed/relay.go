package jailed

// relay passes progress on to a reader that may be slow, without keeping the child waiting:
// of what comes meanwhile the last is reported.
type relay struct {
	tell   Progress
	latest chan StageMessage
	over   chan struct{}
}

// newRelay begins to pass progress on, until end.
func newRelay(tell Progress) *relay {
	b := &relay{tell: tell, latest: make(chan StageMessage, 1), over: make(chan struct{})}
	go func() {
		defer close(b.over)
		for s := range b.latest {
			b.tell(s.Name, s.Done, s.Total)
		}
	}()
	return b
}

// put is for one goroutine, the one that ends it.
func (b *relay) put(s StageMessage) {
	select {
	case <-b.latest: // overtaken
	default:
	}
	b.latest <- s
}

// end waits until what was put last is reported. From then on nothing is.
func (b *relay) end() {
	close(b.latest)
	<-b.over
}
