package queue

import (
	"slices"
	"strings"
	"time"
)

// indexEntry is a scan in the index. It points at shared values: the record in the cache, or the
// job in its subject's record.
type indexEntry struct {
	// record is nil if the scan has no record.
	record *Scan
	// job is the job of such a scan, and by is the id of the job that superseded it before it was
	// claimed; empty while it waits.
	job *Job
	by  string
}

// scan returns a copy of the scan.
func (p *indexEntry) scan() Scan { return *p.known() }

// known returns the scan, which must not be modified; it avoids copies when many are searched.
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

// over reports whether the scan has a record and has ended.
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

// keys returns the keys of the lists that contain the scan.
func (p *indexEntry) keys() [3]indexKey {
	if s := p.record; s != nil {
		return [3]indexKey{{}, {repository: s.Repository}, {name: nameOf(s.Owner, s.Repo)}}
	}
	return [3]indexKey{{}, {repository: p.job.Repository}, {name: nameOf(p.job.Owner, p.job.Repo)}}
}

// oldest compares entries by creation time, then id.
func oldest(p, q *indexEntry) int {
	if c := p.created().Compare(q.created()); c != 0 {
		return c
	}
	return strings.Compare(p.id(), q.id())
}

// indexKey is the key of a list of scans: the id of their repository, or its name in lower case.
// The zero key is that of all scans.
type indexKey struct {
	repository int64
	name       string
}

// nameOf returns a repository's name in lower case, since GitHub ignores case.
func nameOf(owner, repo string) string { return strings.ToLower(owner + "/" + repo) }

// indexKey returns the key of the shortest list that contains everything that matches the filter.
func (f ScanFilter) indexKey() indexKey {
	switch {
	case f.Repository != 0:
		return indexKey{repository: f.Repository}
	case f.Owner != "" && f.Repo != "":
		return indexKey{name: nameOf(f.Owner, f.Repo)}
	}
	return indexKey{}
}

// scanLists are lists of entries, each from the oldest to the newest. New entries usually go to
// the end, where no other has to be moved.
type scanLists map[indexKey][]*indexEntry

func (s scanLists) put(p *indexEntry) {
	for _, where := range p.keys() {
		at, _ := slices.BinarySearchFunc(s[where], p, oldest)
		s[where] = slices.Insert(s[where], at, p)
	}
}

// take removes an existing entry.
func (s scanLists) take(p *indexEntry) {
	for _, where := range p.keys() {
		at, _ := slices.BinarySearchFunc(s[where], p, oldest)
		if s[where] = slices.Delete(s[where], at, at+1); len(s[where]) == 0 {
			delete(s, where)
		}
	}
}
