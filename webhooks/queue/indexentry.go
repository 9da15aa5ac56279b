package queue

import (
	"slices"
	"strings"
	"time"
)

// indexEntry is a scan in the index. It holds what others hold anyway: a record is that of the
// cache, and a job that of its subject's record.
type indexEntry struct {
	// record is nil as long as nothing is stored of the scan itself.
	record *Scan
	// job is what is known of such a scan, and by what took its place before it was claimed;
	// empty as long as it waits.
	job *Job
	by  string
}

// scan is all that is known.
func (p *indexEntry) scan() Scan { return *p.known() }

// known is scan, not to be changed: to look through many takes no copies of records.
func (p *indexEntry) known() *Scan {
	if p.record != nil {
		return p.record
	}
	s := scanOf(*p.job)
	if p.by != "" {
		s.State, s.SupersededBy = Superseded, p.by
	}
	return &s
}

// over reports whether there is a record that says that the scan ended.
func (p *indexEntry) over() bool { return p != nil && p.record != nil && p.record.State.Over() }

func (p *indexEntry) id() string {
	if p.record != nil {
		return p.record.ID
	}
	return p.job.ID
}

func (p *indexEntry) created() time.Time {
	if p.record != nil {
		return p.record.Created
	}
	return p.job.Created
}

// keys are the lists that a scan is in.
func (p *indexEntry) keys() [3]indexKey {
	if s := p.record; s != nil {
		return [3]indexKey{{}, {repository: s.Repository}, {name: nameOf(s.Owner, s.Repo)}}
	}
	return [3]indexKey{{}, {repository: p.job.Repository}, {name: nameOf(p.job.Owner, p.job.Repo)}}
}

// oldest orders entries: the oldest first.
func oldest(p, q *indexEntry) int {
	if c := p.created().Compare(q.created()); c != 0 {
		return c
	}
	return strings.Compare(p.id(), q.id())
}

// indexKey is what scans are looked for by: the number of their repository, or its name in
// lower case. The zero key is that of all scans.
type indexKey struct {
	repository int64
	name       string
}

// nameOf names a repository, of which GitHub ignores the case.
func nameOf(owner, repo string) string { return strings.ToLower(owner + "/" + repo) }

// indexKey returns the list that has everything that matches the filter, and the least besides.
func (f ScanFilter) indexKey() indexKey {
	switch {
	case f.Repository != 0:
		return indexKey{repository: f.Repository}
	case f.Owner != "" && f.Repo != "":
		return indexKey{name: nameOf(f.Owner, f.Repo)}
	}
	return indexKey{}
}

// scanLists have entries by their keys, each in order. The newest are last, where most come:
// then none has to be moved.
type scanLists map[indexKey][]*indexEntry

func (s scanLists) put(p *indexEntry) {
	for _, where := range p.keys() {
		at, _ := slices.BinarySearchFunc(s[where], p, oldest)
		s[where] = slices.Insert(s[where], at, p)
	}
}

// take removes an entry that is there.
func (s scanLists) take(p *indexEntry) {
	for _, where := range p.keys() {
		at, _ := slices.BinarySearchFunc(s[where], p, oldest)
		if s[where] = slices.Delete(s[where], at, at+1); len(s[where]) == 0 {
			delete(s, where)
		}
	}
}
