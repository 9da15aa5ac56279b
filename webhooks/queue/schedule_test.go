package queue

import (
	"testing"
	"time"
)

// scheduleWith returns a schedule with a job for each subject, in this order.
func scheduleWith(subjects ...string) *schedule {
	s := newSchedule(Config{}, "me")
	for i, subject := range subjects {
		s.set(subject, &record{Waiting: time.Unix(int64(i), 0)})
	}
	return s
}

func (s *schedule) set(subject string, r *record) {
	s.update(entry[record]{}, entry[record]{key: subject, value: r})
}

// TestAloneBesideLostClaim checks that a job that has to be worked on alone waits for the work of this process on a
// subject whose lease expired: after the holder was removed, the worker may still be at it.
func TestAloneBesideLostClaim(t *testing.T) {
	s := scheduleWith("a")
	lost, _, _ := s.pick(time.Now())
	claim := &Claim{key: "a", id: "1"}
	s.track(claim)
	s.endClaim(lost)
	s.set("a", &record{Holder: &holder{Owner: "me", Claim: "1"}})
	expired, _, _ := s.pick(time.Now())
	if expired == nil || expired.value.Holder == nil {
		t.Fatalf("picked %+v, want the expired holder", expired)
	}
	s.untrack(claim)
	s.set("a", nil)
	s.endClaim(expired)
	s.set("b", &record{Alone: true})
	if b, _, _ := s.pick(time.Now()); b != nil {
		t.Errorf("picked %s, while the work on the lost claim goes on", b.key)
	}
	s.endWork("a")
	if b, _, _ := s.pick(time.Now()); b == nil {
		t.Error("no job, want b: nothing is worked on")
	}
}

// TestClaimThatEndsAtOnce checks that a claim that ended before it was handed out ends its own work alone, and not that
// of the next claim of its subject.
func TestClaimThatEndsAtOnce(t *testing.T) {
	s := scheduleWith("a", "b")
	first, _, _ := s.pick(time.Now())
	claim := &Claim{key: "a", id: "1"}
	s.track(claim)
	s.untrack(claim)
	s.endWork("a") // buried, and enqueued again
	s.set("a", nil)
	s.set("a", &record{Alone: true})
	if a, _, _ := s.pick(time.Now()); a != nil && a.key == "a" {
		t.Error("picked a, of which the first attempt has not ended")
	}
	s.endClaim(first)
	b := s.jobs["b"]
	s.endClaim(b)
	a, _, _ := s.pick(time.Now())
	if a == nil || a.key != "a" {
		t.Fatalf("picked %+v, want a", a)
	}
	if other, _, _ := s.pick(time.Now()); other != nil {
		t.Errorf("picked %s beside a job that is worked on alone", other.key)
	}
	s.endClaim(a)
	if len(s.working) != 0 || len(s.claiming) != 0 || s.isolated {
		t.Errorf("working %v, claiming %v, isolated %v; want none", s.working, s.claiming, s.isolated)
	}
}
