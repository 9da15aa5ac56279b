package queue

import (
	"slices"
	"time"
)

// record is all there is to a subject's job; without a record there is none. Every step
// of a job is one change of its record.
type record struct {
	Job Job `json:"job"`
	// Waiting is since when the subject waits: its place in line, which a job that
	// supersedes one takes over.
	Waiting time.Time `json:"waiting"`
	// Attempt counts how often Job was claimed, and not given back.
	Attempt int `json:"attempt,omitempty"`
	// Failed counts the attempts that said so.
	Failed int `json:"failed,omitempty"`
	// Alone says that a process ended while it worked on Job and perhaps on others: Job is
	// worked on alone from then on, to see whether it is the cause.
	Alone bool `json:"alone,omitempty"`
	// Fatal counts the processes that ended while they worked on Job alone.
	Fatal int `json:"fatal,omitempty"`
	// Begun says that Job was handed out already by a claim that Attempt does not count.
	Begun bool `json:"begun,omitempty"`
	// NotBefore is when the next attempt may begin, and Why how the last one ended.
	NotBefore time.Time `json:"notBefore,omitzero"`
	Why       string    `json:"why,omitempty"`
	// Holder works on the subject: on Job, or on one that Job has superseded.
	Holder *holder `json:"holder,omitempty"`
	// Replaced are jobs whose scan records are yet to say that they were superseded.
	Replaced []replaced `json:"replaced,omitempty"`
}

// holder is the process that works on a subject.
type holder struct {
	// Owner is the process, Claim what it does, Job the job's id.
	Owner string `json:"owner"`
	Claim string `json:"claim"`
	Job   string `json:"job"`
	// Alone says that the process works on nothing else.
	Alone bool `json:"alone,omitempty"`
	// Beat counts signs of life.
	Beat uint64 `json:"beat,omitempty"`
}

// beat is the holder after one more sign of life.
func (h *holder) beat() *holder {
	next := *h
	next.Beat++
	return &next
}

// replaced is a job that By took the place of.
type replaced struct {
	Job Job    `json:"job"`
	By  string `json:"by"`
}

// holds reports whether the claim is the subject's.
func (r *record) holds(claim string) bool {
	return r != nil && r.Holder != nil && r.Holder.Claim == claim
}

// working reports whether the job named id is being worked on.
func (r *record) working(id string) bool { return r.Holder != nil && r.Holder.Job == id }

// supersede is the record after j came. kept says which of the replaced jobs are still to
// be recorded.
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

// with is a copy that do changed.
func (r *record) with(do func(*record)) *record {
	next := *r
	next.Replaced = slices.Clone(r.Replaced)
	do(&next)
	return &next
}
