package jailed

// bulletin passes progress on to one who may be slow, without keeping the child waiting:
// of what comes meanwhile the last is told.
type bulletin struct {
	tell   Progress
	latest chan stageMessage
	over   chan struct{}
}

// newBulletin begins to pass progress on, until end.
func newBulletin(tell Progress) *bulletin {
	b := &bulletin{tell: tell, latest: make(chan stageMessage, 1), over: make(chan struct{})}
	go func() {
		defer close(b.over)
		for s := range b.latest {
			b.tell(s.Name, s.Done, s.Total)
		}
	}()
	return b
}

// put is for one goroutine, the one that ends it.
func (b *bulletin) put(s stageMessage) {
	select {
	case <-b.latest: // overtaken
	default:
	}
	b.latest <- s
}

// end waits until what was put last is told. From then on nothing is.
func (b *bulletin) end() {
	close(b.latest)
	<-b.over
}
