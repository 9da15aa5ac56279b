package queue

import (
	"testing"
	"time"
)

// TestMirrorOrder checks that late changes of the watcher do not undo what this process wrote.
func TestMirrorOrder(t *testing.T) {
	t.Parallel()
	m := newCachedStore(&store[int]{}, func(_, _ entry[int]) {})
	one, two := 1, 2
	m.apply(entry[int]{key: "k", value: &two, sequence: 5})
	m.apply(entry[int]{key: "k", value: &one, sequence: 4})
	if got := m.at("k"); got.value != &two || got.sequence != 5 {
		t.Errorf("an older entry replaced a newer: %+v", got)
	}
	m.apply(entry[int]{key: "k", sequence: 7})
	m.apply(entry[int]{key: "k", value: &one, sequence: 6})
	if got := m.at("k"); got.value != nil || got.sequence != 7 {
		t.Errorf("an older entry came back after its end: %+v", got)
	}
}

// TestEntryReadBeforeItsEnd checks that an entry that a change read from the stream is not cached again
// after the watcher has brought its deletion, nor when another consumer brings it again. An entry that
// the watcher passed without bringing it is cached.
func TestEntryReadBeforeItsEnd(t *testing.T) {
	t.Parallel()
	m := newCachedStore(&store[int]{}, func(_, _ entry[int]) {})
	one := 1
	m.taken(entry[int]{key: "k", value: &one, sequence: 4})
	end := m.begin("k")
	m.taken(entry[int]{key: "k", sequence: 5})
	m.taken(entry[int]{key: "other", value: &one, sequence: 6})
	m.apply(entry[int]{key: "k", value: &one, sequence: 4})
	if got := m.at("k"); got.value != nil {
		t.Errorf("an entry that was read came back after its end: %+v", got)
	}
	end()
	if len(m.gone) > 0 || len(m.changing) > 0 {
		t.Errorf("kept for nothing: %v, %v", m.gone, m.changing)
	}
	m.taken(entry[int]{key: "k", value: &one, sequence: 4})
	if got := m.at("k"); got.value != nil || m.seen != 6 {
		t.Errorf("an entry that was brought again came back after its end: %+v, seen up to %d", got, m.seen)
	}
	m.apply(entry[int]{key: "missed", value: &one, sequence: 3})
	if got := m.at("missed"); got.value != &one {
		t.Errorf("an entry that the watcher missed was not taken: %+v", got)
	}
	m.taken(entry[int]{key: "k", value: &one, sequence: 7})
	if got := m.at("k"); got.value != &one || got.sequence != 7 {
		t.Errorf("a new entry was not taken: %+v", got)
	}
}

// TestPlaceInLine checks that a job keeps the place of a waiting job that it replaces, but not of one
// that is being worked on.
func TestPlaceInLine(t *testing.T) {
	t.Parallel()
	long, now := time.Unix(1, 0), time.Unix(2, 0)
	r := &record{Job: Job{ID: "a"}, Waiting: long}
	keep := func(replaced) bool { return true }
	if next := r.supersede(Job{ID: "b"}, now, keep); next.Waiting != long {
		t.Error("lost its place")
	}
	r.Holder = &holder{Job: "a"}
	if next := r.supersede(Job{ID: "b"}, now, keep); next.Waiting != now {
		t.Error("took the place of a job that is not in line")
	}
}
