package queue

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// board has the subjects with jobs in line, by installation, and picks whose turn it is.
type board struct {
	// lease is how long a holder that gives no sign of life keeps its subject.
	lease time.Duration
	// most bounds the held subjects of an installation; 0 does not.
	most int
	// alone says that this process is the queue's only one: what others hold is free.
	alone bool
	owner string

	mutex   sync.Mutex
	tickets map[string]*ticket // by subject
	lines   map[int64]line
	// turns are the installations with jobs, in the order of their turns; next is whose
	// turn it is.
	turns []int64
	next  int
	// claims are those of this process, by subject.
	claims map[string]*Claim
	// news is closed when there may be something to pick.
	news chan struct{}
}

// line is the subjects of one installation, in order of Waiting.
type line []*ticket

// ticket is a subject with a job.
type ticket struct {
	entry[record]
	// heard is when this process last heard of the holder; zero: it is gone.
	heard time.Time
	// since is the sequence at which the present holder was first seen.
	since uint64
	// claiming says that this process is about to claim it.
	claiming bool
}

func newBoard(c Config, owner string) *board {
	return &board{
		lease: c.Lease, most: c.PerInstallation, alone: c.URL == "", owner: owner,
		tickets: map[string]*ticket{}, lines: map[int64]line{}, claims: map[string]*Claim{}, news: make(chan struct{}),
	}
}

// order puts tickets in line.
func order(t, u *ticket) int {
	if c := t.value.Waiting.Compare(u.value.Waiting); c != 0 {
		return c
	}
	return strings.Compare(t.key, u.key)
}

// tell takes in a subject's record: see mirror.
func (b *board) tell(_, now entry[record]) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	old := b.remove(now.key)
	if now.value != nil {
		b.insert(old, now)
	}
	if claim := b.claims[now.key]; claim != nil {
		claim.heard(now.value)
	}
	close(b.news)
	b.news = make(chan struct{})
}

// remove takes a subject out of its line.
func (b *board) remove(key string) *ticket {
	old := b.tickets[key]
	if old == nil {
		return nil
	}
	delete(b.tickets, key)
	installation := old.value.Job.Installation
	l := b.lines[installation]
	at, _ := slices.BinarySearchFunc(l, old, order)
	if l = slices.Delete(l, at, at+1); len(l) > 0 {
		b.lines[installation] = l
		return old
	}
	delete(b.lines, installation)
	b.leave(installation)
	return old
}

// leave ends an installation's turns.
func (b *board) leave(installation int64) {
	at := slices.Index(b.turns, installation)
	b.turns = slices.Delete(b.turns, at, at+1)
	if at < b.next {
		b.next--
	}
}

// insert puts a ticket in line; old is what the subject had.
func (b *board) insert(old *ticket, e entry[record]) {
	t := &ticket{entry: e, since: e.sequence, heard: b.sign(old, e)}
	if old != nil {
		t.claiming = old.claiming
		if e.value.Holder != nil && old.value.holds(e.value.Holder.Claim) {
			t.since = old.since
		}
	}
	installation := e.value.Job.Installation
	l := b.lines[installation]
	if l == nil {
		b.turns = append(b.turns, installation)
	}
	at, _ := slices.BinarySearchFunc(l, t, order)
	b.lines[installation] = slices.Insert(l, at, t)
	b.tickets[e.key] = t
}

// sign is when the holder of e was last heard of.
func (b *board) sign(old *ticket, e entry[record]) time.Time {
	holder := e.value.Holder
	switch {
	case holder == nil || b.alone && holder.Owner != b.owner:
		return time.Time{}
	case old != nil && old.value.Holder != nil && *old.value.Holder == *holder:
		return old.heard
	}
	return time.Now()
}

// pick takes the next job whose turn it is, to be claimed and then put back. When there
// is none, wait is how long until there may be one if nothing happens, and news is closed
// when something does.
func (b *board) pick(now time.Time) (t *ticket, wait time.Duration, news <-chan struct{}) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	wait = time.Hour
	for i := range b.turns {
		at := (b.next + i) % len(b.turns)
		t, soon := b.first(b.lines[b.turns[at]], now)
		if t != nil {
			t.claiming = true
			b.next = (at + 1) % len(b.turns)
			return t, 0, nil
		}
		wait = min(wait, soon)
	}
	return nil, wait, b.news
}

// first is the first job in line that can be claimed, or how soon one may be.
func (b *board) first(l line, now time.Time) (*ticket, time.Duration) {
	soon := time.Hour
	busy := b.busy(l)
	for _, t := range l {
		switch left := b.left(t, now); {
		case t.claiming:
		case left > 0:
			soon = min(soon, left)
		case b.most > 0 && busy >= b.most && t.value.Holder == nil:
			// What a dead process held is in the count already.
		default:
			return t, 0
		}
	}
	return nil, soon
}

// busy counts what is held of a line or about to be.
func (b *board) busy(l line) int {
	if b.most == 0 {
		return 0
	}
	busy := 0
	for _, t := range l {
		if t.claiming || t.value.Holder != nil {
			busy++
		}
	}
	return busy
}

// left is how long a ticket cannot be claimed, going by what is known now.
func (b *board) left(t *ticket, now time.Time) time.Duration {
	rest := t.value.NotBefore.Sub(now)
	if t.value.Holder != nil && !t.heard.IsZero() {
		rest = max(rest, b.lease-time.Since(t.heard))
	}
	return rest
}

// put ends the claiming of a subject.
func (b *board) put(key string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if t := b.tickets[key]; t != nil {
		t.claiming = false
	}
	close(b.news)
	b.news = make(chan struct{})
}

// ahead counts the subjects of an installation that were held before sequence.
func (b *board) ahead(installation int64, sequence uint64) int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	n := 0
	for _, t := range b.lines[installation] {
		if t.value.Holder != nil && t.since < sequence {
			n++
		}
	}
	return n
}

// keep notes a claim of this process, so that it hears of its subject.
func (b *board) keep(c *Claim) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.claims[c.key] = c
}

// forget ends keep.
func (b *board) forget(c *Claim) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.claims[c.key] == c {
		delete(b.claims, c.key)
	}
}

// count is what is in line.
func (b *board) count() Stats {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	stats := Stats{Installations: len(b.lines)}
	for _, t := range b.tickets {
		held := t.value.Holder != nil && !t.heard.IsZero()
		if held {
			stats.Running++
		}
		if held && t.value.working(t.value.Job.ID) {
			continue
		}
		stats.Pending++
		if stats.Oldest.IsZero() || t.value.Waiting.Before(stats.Oldest) {
			stats.Oldest = t.value.Waiting
		}
	}
	return stats
}
