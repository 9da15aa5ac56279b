package queue

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// schedule holds the subjects with jobs by installation, and picks the next one: installations
// take turns, and the jobs of one are picked in the order of Waiting.
type schedule struct {
	// lease is how long a holder without heartbeats keeps its subject.
	lease time.Duration
	// most bounds the held subjects of an installation; 0 means no limit.
	most int
	// alone is set if this process is the queue's only one: subjects held by other owners are free.
	alone bool
	owner string

	mutex sync.Mutex
	jobs  map[string]*pendingJob // by subject
	lists map[int64]jobList
	// rotation has the installations with jobs, in the order in which they take turns; next is the
	// index of the one whose turn it is.
	rotation []int64
	next     int
	// claims are the claims of this process, by subject.
	claims map[string]*Claim
	// claiming has the subjects that this process tries to claim, or whose expired holder it removes.
	claiming map[string]bool
	// working counts what this process claims or works on, by subject: pick counts an attempt until
	// endClaim, and track counts a claim until endWork. While isolated is set, a job that has to be
	// worked on alone is among them.
	working  map[string]int
	isolated bool
	// news is closed when there may be something to pick.
	news chan struct{}
}

// jobList has the subjects of one installation, in order of Waiting.
type jobList []*pendingJob

// pendingJob is a subject with a job.
type pendingJob struct {
	entry[record]
	// seen is when the last heartbeat of the holder arrived; zero if the holder is dead.
	seen time.Time
	// since is the sequence at which the current holder was first seen.
	since uint64
}

func newSchedule(c Config, owner string) *schedule {
	return &schedule{
		lease: c.Lease, most: c.PerInstallation, alone: c.URL == "", owner: owner,
		jobs: map[string]*pendingJob{}, lists: map[int64]jobList{}, claims: map[string]*Claim{}, claiming: map[string]bool{}, working: map[string]int{},
		news: make(chan struct{}),
	}
}

// order compares jobs by Waiting, then by subject.
func order(t, u *pendingJob) int {
	if c := t.value.Waiting.Compare(u.value.Waiting); c != 0 {
		return c
	}
	return strings.Compare(t.key, u.key)
}

// update applies the change of a subject's record; see cachedStore.changed.
func (s *schedule) update(_, now entry[record]) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old := s.remove(now.key)
	if now.value != nil {
		s.insert(old, now)
	}
	if claim := s.claims[now.key]; claim != nil {
		claim.update(now.value)
	}
	close(s.news)
	s.news = make(chan struct{})
}

// remove removes a subject from the list of its installation, and returns it.
func (s *schedule) remove(key string) *pendingJob {
	old := s.jobs[key]
	if old == nil {
		return nil
	}
	delete(s.jobs, key)
	installation := old.value.Job.Installation
	l := s.lists[installation]
	at, _ := slices.BinarySearchFunc(l, old, order)
	if l = slices.Delete(l, at, at+1); len(l) > 0 {
		s.lists[installation] = l
		return old
	}
	delete(s.lists, installation)
	s.leave(installation)
	return old
}

// leave removes an installation from the rotation.
func (s *schedule) leave(installation int64) {
	at := slices.Index(s.rotation, installation)
	s.rotation = slices.Delete(s.rotation, at, at+1)
	if at < s.next {
		s.next--
	}
}

// insert adds a subject to the list of its installation; old is its previous state, or nil.
func (s *schedule) insert(old *pendingJob, e entry[record]) {
	t := &pendingJob{entry: e, since: e.sequence, seen: s.lastSeen(old, e)}
	if old != nil && e.value.Holder != nil && old.value.holds(e.value.Holder.Claim) {
		t.since = old.since
	}
	installation := e.value.Job.Installation
	l := s.lists[installation]
	if l == nil {
		s.rotation = append(s.rotation, installation)
	}
	at, _ := slices.BinarySearchFunc(l, t, order)
	s.lists[installation] = slices.Insert(l, at, t)
	s.jobs[e.key] = t
}

// lastSeen returns when the last heartbeat of e's holder arrived, or zero if the holder is dead.
func (s *schedule) lastSeen(old *pendingJob, e entry[record]) time.Time {
	holder := e.value.Holder
	switch {
	case holder == nil || s.alone && holder.Owner != s.owner:
		return time.Time{}
	case old != nil && old.value.Holder != nil && *old.value.Holder == *holder:
		return old.seen
	}
	return time.Now()
}

// pick returns the next job to claim; the caller calls endClaim after the attempt. If there is
// none, wait is the time until there may be one without a change, and news is closed at the next
// change.
func (s *schedule) pick(now time.Time) (t *pendingJob, wait time.Duration, news <-chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	wait = time.Hour
	if s.isolated {
		return nil, wait, s.news
	}
	for i := range s.rotation {
		at := (s.next + i) % len(s.rotation)
		t, soon := s.first(s.lists[s.rotation[at]], now)
		switch {
		case t == nil:
			wait = min(wait, soon)
			continue
		case t.value.Holder == nil && t.value.Alone && len(s.working) > 0:
			return nil, wait, s.news // it is claimed once the work in progress has ended
		case t.value.Holder == nil:
			s.working[t.key]++
			s.isolated = t.value.Alone
		}
		s.claiming[t.key] = true
		s.next = (at + 1) % len(s.rotation)
		return t, 0, nil
	}
	return nil, wait, s.news
}

// first returns the first job of the list that can be claimed, or the time until one may be.
func (s *schedule) first(l jobList, now time.Time) (*pendingJob, time.Duration) {
	soon := time.Hour
	busy := s.busy(l)
	for _, t := range l {
		switch left := s.left(t, now); {
		case s.claiming[t.key]:
		case left > 0:
			soon = min(soon, left)
		case s.most > 0 && busy >= s.most && t.value.Holder == nil:
			// An expired holder is counted already.
		default:
			return t, 0
		}
	}
	return nil, soon
}

// busy counts the jobs of the list that are held or being claimed.
func (s *schedule) busy(l jobList) int {
	if s.most == 0 {
		return 0
	}
	busy := 0
	for _, t := range l {
		if s.claiming[t.key] || t.value.Holder != nil {
			busy++
		}
	}
	return busy
}

// left returns how long a job cannot be claimed yet, as far as this process knows.
func (s *schedule) left(t *pendingJob, now time.Time) time.Duration {
	rest := t.value.NotBefore.Sub(now)
	if t.value.Holder != nil && !t.seen.IsZero() {
		rest = max(rest, s.lease-time.Since(t.seen))
	}
	return rest
}

// endClaim ends the attempt for which pick returned t. A claim that came of it counts by itself, see track.
func (s *schedule) endClaim(t *pendingJob) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.claiming, t.key)
	if t.value.Holder == nil {
		s.free(t.key)
	}
	close(s.news)
	s.news = make(chan struct{})
}

// endWork ends the work on a subject that was claimed, which track began.
func (s *schedule) endWork(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.free(key)
	close(s.news)
	s.news = make(chan struct{})
}

// free ends one count of a subject in working.
func (s *schedule) free(key string) {
	if s.working[key]--; s.working[key] <= 0 {
		delete(s.working, key)
	}
	s.isolated = s.isolated && len(s.working) > 0
}

// heldBefore counts the subjects of an installation that were held before sequence.
func (s *schedule) heldBefore(installation int64, sequence uint64) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	n := 0
	for _, t := range s.lists[installation] {
		if t.value.Holder != nil && t.since < sequence {
			n++
		}
	}
	return n
}

// track registers a claim of this process, so that it receives the changes of its subject. It counts as worked on until
// endWork.
func (s *schedule) track(c *Claim) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.claims[c.key] = c
	s.working[c.key]++
}

// untrack removes a claim.
func (s *schedule) untrack(c *Claim) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.claims[c.key] == c {
		delete(s.claims, c.key)
	}
}

// count returns the counts of jobs and installations.
func (s *schedule) count() Stats {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	stats := Stats{Installations: len(s.lists)}
	for _, t := range s.jobs {
		held := t.value.Holder != nil && !t.seen.IsZero()
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
