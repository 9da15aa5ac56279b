package queue

import (
	"slices"
	"sync"
)

// scanIndex holds all scans, in order of creation: those with a record, and those whose jobs wait
// for their first claim, which are derived from the job.
type scanIndex struct {
	// most is the maximum number of ended scans; full is signalled when it is exceeded by a
	// twentieth.
	most int
	full chan struct{}

	mutex    sync.Mutex
	entries  map[string]*indexEntry
	lists    scanLists
	watchers map[string]map[chan Scan]bool
	// ended counts the records of scans that are over.
	ended int
}

func newScanIndex(most int) *scanIndex {
	return &scanIndex{
		most: most, full: make(chan struct{}, 1),
		entries: map[string]*indexEntry{}, lists: scanLists{}, watchers: map[string]map[chan Scan]bool{},
	}
}

// updateScan applies the change of a scan record; see cachedStore.changed.
func (b *scanIndex) updateScan(before, now entry[Scan]) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case now.value != nil:
		b.set(&indexEntry{record: now.value})
	case before.value != nil:
		b.remove(before.value.ID)
	}
}

// updateJob applies the change of a subject's record to the scans without a record.
func (b *scanIndex) updateJob(before, now entry[record]) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if old := before.value; old != nil && (now.value == nil || now.value.Job.ID != old.Job.ID) {
		b.removeDerived(old.Job.ID)
	}
	if now.value == nil {
		b.removeReplaced(before.value)
		return
	}
	for i := range now.value.Replaced {
		r := &now.value.Replaced[i]
		b.derive(&indexEntry{job: &r.Job, by: r.By})
	}
	if now.value.Job.Kind.Judges() {
		b.derive(&indexEntry{job: &now.value.Job})
	}
}

// derive sets a scan that has no record.
func (b *scanIndex) derive(p *indexEntry) {
	if old := b.entries[p.job.ID]; old == nil || old.record == nil {
		b.set(p)
	}
}

func (b *scanIndex) removeDerived(id string) {
	if p := b.entries[id]; p != nil && p.record == nil {
		b.remove(id)
	}
}

// removeReplaced removes the derived scans of replaced jobs after the subject's record was
// removed. Some remain only if the job was forgotten.
func (b *scanIndex) removeReplaced(old *record) {
	if old == nil {
		return
	}
	for _, r := range old.Replaced {
		b.removeDerived(r.Job.ID)
	}
}

func (b *scanIndex) set(p *indexEntry) {
	id := p.id()
	b.count(b.entries[id], p)
	if old := b.entries[id]; old != nil && old.created().Equal(p.created()) && old.keys() == p.keys() {
		*old = *p
	} else {
		b.takeOut(id)
		b.lists.put(p)
		b.entries[id] = p
	}
	for watcher := range b.watchers[id] {
		replaceLast(watcher, p.scan())
	}
}

// count updates ended and full when now replaces old; either may be nil.
func (b *scanIndex) count(old, now *indexEntry) {
	if old.over() {
		b.ended--
	}
	if !now.over() {
		return
	}
	if b.ended++; b.ended > b.most+b.most/20 {
		select {
		case b.full <- struct{}{}:
		default: // It is signalled already.
		}
	}
}

// len returns the number of scans.
func (b *scanIndex) len() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.entries)
}

// records returns all scans that have a record, the newest first. They must not be modified.
func (b *scanIndex) records() []*Scan {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	records := make([]*Scan, 0, len(b.entries))
	for _, p := range slices.Backward(b.lists[indexKey{}]) {
		if p.record != nil {
			records = append(records, p.record)
		}
	}
	return records
}

// remove removes a scan and closes its watchers' channels.
func (b *scanIndex) remove(id string) {
	b.count(b.entries[id], nil)
	b.takeOut(id)
	for watcher := range b.watchers[id] {
		close(watcher)
	}
	delete(b.watchers, id)
}

func (b *scanIndex) takeOut(id string) {
	if p := b.entries[id]; p != nil {
		b.lists.take(p)
		delete(b.entries, id)
	}
}

// replaceLast sends s to a watcher, in place of a change that it has not read yet.
func replaceLast(watcher chan Scan, s Scan) {
	select {
	case <-watcher:
	default:
	}
	watcher <- s
}

// at returns the scan with this id.
func (b *scanIndex) at(id string) (s Scan, found bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if p := b.entries[id]; p != nil {
		return p.scan(), true
	}
	return Scan{}, false
}

// unsettled reports whether a replaced job's scan is not recorded as superseded yet.
func (b *scanIndex) unsettled(r replaced) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	p := b.entries[r.Job.ID]
	return !p.over() || p.record.State == Cancelled
}

// list returns the scans that match the filter.
func (b *scanIndex) list(f ScanFilter) []Scan {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	entries := b.lists[f.indexKey()]
	if f.Before != "" {
		p := b.entries[f.Before]
		if p == nil {
			return nil
		}
		at, _ := slices.BinarySearchFunc(entries, p, oldest)
		entries = entries[:at]
	}
	var scans []Scan
	for _, p := range slices.Backward(entries) {
		if f.Limit > 0 && len(scans) == f.Limit {
			break
		}
		if s := p.known(); f.matches(s) {
			scans = append(scans, *s)
		}
	}
	return scans
}

// watch returns a channel with the scan and its changes, until stop is called or it is removed.
func (b *scanIndex) watch(id string) (changes chan Scan, stop func()) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	p := b.entries[id]
	if p == nil {
		return nil, nil
	}
	changes = make(chan Scan, 1)
	changes <- p.scan()
	if b.watchers[id] == nil {
		b.watchers[id] = map[chan Scan]bool{}
	}
	b.watchers[id][changes] = true
	return changes, func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if b.watchers[id][changes] {
			delete(b.watchers[id], changes)
			close(changes)
		}
		if len(b.watchers[id]) == 0 {
			delete(b.watchers, id)
		}
	}
}
