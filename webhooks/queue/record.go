package queue

import (
	"slices"
	"time"
)

// record is the whole state of a subject; without a job there is none. Every step of a job is
// one change of its record.
type record struct {
	Job Job `json:"job"`
	// Waiting is the time since which the subject waits. It decides the order; a job that
	// supersedes a waiting one keeps it.
	Waiting time.Time `json:"waiting"`
	// Attempt counts the claims of Job that were not given back.
	Attempt int `json:"attempt,omitempty"`
	// Failed counts the attempts that ended with Retry.
	Failed int `json:"failed,omitempty"`
	// Alone is set after a process ended while it worked on Job and perhaps on others: Job is
	// worked on alone from then on, to find out whether it is the cause.
	Alone bool `json:"alone,omitempty"`
	// Fatal counts the processes that ended while they worked on Job alone.
	Fatal int `json:"fatal,omitempty"`
	// Begun is set if Job was handed out by a claim that Attempt does not count.
	Begun bool `json:"begun,omitempty"`
	// NotBefore is the earliest time of the next attempt, and Why is how the last one ended.
	NotBefore time.Time `json:"notBefore,omitzero"`
	Why       string    `json:"why,omitempty"`
	// Holder is set while a process works on the subject: on Job, or on one that Job superseded.
	Holder *holder `json:"holder,omitempty"`
	// Replaced are jobs whose scans have no superseded record yet.
	Replaced []replaced `json:"replaced,omitempty"`
}

// holder is the process that works on a subject.
type holder struct {
	// Owner identifies the process, Claim its claim, Job the job.
	Owner string `json:"owner"`
	Claim string `json:"claim"`
	Job   string `json:"job"`
	// Alone is set if the process works on nothing else.
	Alone bool `json:"alone,omitempty"`
	// Beat counts heartbeats.
	Beat uint64 `json:"beat,omitempty"`
}

// beat returns the holder with one more heartbeat.
func (h *holder) beat() *holder {
	next := *h
	next.Beat++
	return &next
}

// replaced is a job that the job By superseded.
type replaced struct {
	Job Job    `json:"job"`
	By  string `json:"by"`
}

// holds reports whether claim is the current holder's.
func (r *record) holds(claim string) bool {
	return r != nil && r.Holder != nil && r.Holder.Claim == claim
}

// working reports whether the job with this id is being worked on.
func (r *record) working(id string) bool { return r.Holder != nil && r.Holder.Job == id }

// supersede returns the record with j as its job. kept reports whether a replaced job still has
// to be recorded.
func (r *record) supersede(j Job, now time.Time, kept func(replaced) bool) *record {
	next := &record{Job: j.merge(r.Job), Waiting: r.Waiting, Holder: r.Holder}
	if r.working(r.Job.ID) {
		next.Waiting = now
	}
	for _, old := range r.Replaced {
		if kept(old) {
			next.Replaced = append(next.Replaced, old)
		}
	}
	if r.Job.Kind.Judges() {
		next.Replaced = append(next.Replaced, replaced{r.Job, j.ID})
	}
	return next
}

// with returns a copy that do has modified.
func (r *record) with(do func(*record)) *record {
	next := *r
	next.Replaced = slices.Clone(r.Replaced)
	do(&next)
	return &next
}
