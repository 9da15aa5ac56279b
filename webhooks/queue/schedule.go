package queue

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// schedule holds the subjects with jobs by installation, and picks the next one: installations
// take turns, and the jobs of one go in the order in which they came.
type schedule struct {
	// lease is how long a holder that does not renew it keeps its subject.
	lease time.Duration
	// most bounds the held subjects of an installation; 0 does not.
	most int
	// alone says that this process is the queue's only one: what others hold is free.
	alone bool
	owner string

	mutex sync.Mutex
	jobs  map[string]*pendingJob // by subject
	lists map[int64]jobList
	// rotation are the installations with jobs, in the order in which they take turns; next is whose
	// turn it is.
	rotation []int64
	next     int
	// claims are those of this process, by subject.
	claims map[string]*Claim
	// working counts what this process claims or works on, by subject. While isolated, one of
	// them is to be worked on alone.
	working  map[string]int
	isolated bool
	// news is closed when there may be something to pick.
	news chan struct{}
}

// jobList is the subjects of one installation, in order of Waiting.
type jobList []*pendingJob

// pendingJob is a subject with a job.
type pendingJob struct {
	entry[record]
	// seen is when the last sign of life of the holder arrived; zero: it is gone.
	seen time.Time
	// since is the sequence at which the present holder was first seen.
	since uint64
	// claiming says that this process is about to claim it.
	claiming bool
}

func newSchedule(c Config, owner string) *schedule {
	return &schedule{
		lease: c.Lease, most: c.PerInstallation, alone: c.URL == "", owner: owner,
		jobs: map[string]*pendingJob{}, lists: map[int64]jobList{}, claims: map[string]*Claim{}, working: map[string]int{}, news: make(chan struct{}),
	}
}

// order puts jobs in line.
func order(t, u *pendingJob) int {
	if c := t.value.Waiting.Compare(u.value.Waiting); c != 0 {
		return c
	}
	return strings.Compare(t.key, u.key)
}

// update takes in a subject's record: see cachedStore.
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

// remove takes a subject out of its line.
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

// leave ends an installation's rotation.
func (s *schedule) leave(installation int64) {
	at := slices.Index(s.rotation, installation)
	s.rotation = slices.Delete(s.rotation, at, at+1)
	if at < s.next {
		s.next--
	}
}

// insert puts a pendingJob in line; old is what the subject had.
func (s *schedule) insert(old *pendingJob, e entry[record]) {
	t := &pendingJob{entry: e, since: e.sequence, seen: s.lastSeen(old, e)}
	if old != nil {
		t.claiming = old.claiming
		if e.value.Holder != nil && old.value.holds(e.value.Holder.Claim) {
			t.since = old.since
		}
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

// lastSeen returns when the last sign of life of the holder of e arrived.
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

// pick returns the next job to claim; endClaim is called after it was tried. When there
// is none, wait is how long until there may be one if nothing happens, and news is closed
// when something does.
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
			return nil, wait, s.news // its turn comes when what is worked on has ended
		case t.value.Holder == nil:
			s.working[t.key]++
			s.isolated = t.value.Alone
		}
		t.claiming = true
		s.next = (at + 1) % len(s.rotation)
		return t, 0, nil
	}
	return nil, wait, s.news
}

// first is the first job in line that can be claimed, or how soon one may be.
func (s *schedule) first(l jobList, now time.Time) (*pendingJob, time.Duration) {
	soon := time.Hour
	busy := s.busy(l)
	for _, t := range l {
		switch left := s.left(t, now); {
		case t.claiming:
		case left > 0:
			soon = min(soon, left)
		case s.most > 0 && busy >= s.most && t.value.Holder == nil:
			// What a dead process held is in the count already.
		default:
			return t, 0
		}
	}
	return nil, soon
}

// busy counts what is held of a line or about to be.
func (s *schedule) busy(l jobList) int {
	if s.most == 0 {
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

// left is how long a pendingJob cannot be claimed, going by what is known now.
func (s *schedule) left(t *pendingJob, now time.Time) time.Duration {
	rest := t.value.NotBefore.Sub(now)
	if t.value.Holder != nil && !t.seen.IsZero() {
		rest = max(rest, s.lease-time.Since(t.seen))
	}
	return rest
}

// endClaim ends the claiming of a subject. It is worked on then if it was claimed.
func (s *schedule) endClaim(key string, claimed bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if t := s.jobs[key]; t != nil {
		t.claiming = false
	}
	if !claimed {
		s.free(key)
	}
	close(s.news)
	s.news = make(chan struct{})
}

// endWork ends the work on a subject that was claimed.
func (s *schedule) endWork(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.free(key)
	close(s.news)
	s.news = make(chan struct{})
}

// free takes a subject from those that are worked on.
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

// track notes a claim of this process, so that it follows its subject.
func (s *schedule) track(c *Claim) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.claims[c.key] = c
}

// untrack ends track.
func (s *schedule) untrack(c *Claim) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.claims[c.key] == c {
		delete(s.claims, c.key)
	}
}

// count is what is in line.
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
