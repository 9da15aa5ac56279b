package queue

import (
	"strings"
	"time"
)

// page is a scan in the book. It holds what others hold anyway: a record is that of the
// mirror, and a job that of its subject's record.
type page struct {
	// record is nil as long as nothing is stored of the scan itself.
	record *Scan
	// job is what is known of such a scan, and by what took its place before it was claimed;
	// empty as long as it waits.
	job *Job
	by  string
}

// scan is all that is known.
func (p *page) scan() Scan { return *p.known() }

// known is scan, not to be changed: to look through many takes no copies of records.
func (p *page) known() *Scan {
	if p.record != nil {
		return p.record
	}
	s := scanOf(*p.job)
	if p.by != "" {
		s.State, s.SupersededBy = Superseded, p.by
	}
	return &s
}

// over says whether there is a record that says that the scan ended.
func (p *page) over() bool { return p != nil && p.record != nil && p.record.State.Over() }

func (p *page) id() string {
	if p.record != nil {
		return p.record.ID
	}
	return p.job.ID
}

func (p *page) created() time.Time {
	if p.record != nil {
		return p.record.Created
	}
	return p.job.Created
}

// places are the places where a scan is found.
func (p *page) places() [3]place {
	if s := p.record; s != nil {
		return [3]place{{}, {repository: s.Repository}, {name: nameOf(s.Owner, s.Repo)}}
	}
	return [3]place{{}, {repository: p.job.Repository}, {name: nameOf(p.job.Owner, p.job.Repo)}}
}

// oldest orders pages: the oldest first.
func oldest(p, q *page) int {
	if c := p.created().Compare(q.created()); c != 0 {
		return c
	}
	return strings.Compare(p.id(), q.id())
}
