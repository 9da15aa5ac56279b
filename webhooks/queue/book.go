package queue

import (
	"slices"
	"sync"
)

// book has all scans, in order: those with a record, and those whose jobs still wait for
// their first claim, of which the job is the record.
type book struct {
	// most is how many scans that ended there are to be, and full is told when there are more
	// by a twentieth.
	most int
	full chan struct{}

	mutex   sync.Mutex
	pages   map[string]*page
	shelves shelves
	readers map[string]map[chan Scan]bool
	// ended counts the records of scans that are over.
	ended int
}

func newBook(most int) *book {
	return &book{
		most: most, full: make(chan struct{}, 1),
		pages: map[string]*page{}, shelves: shelves{}, readers: map[string]map[chan Scan]bool{},
	}
}

// tellScan takes in a record: see mirror.
func (b *book) tellScan(before, now entry[Scan]) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case now.value != nil:
		b.set(&page{record: now.value})
	case before.value != nil:
		b.remove(before.value.ID)
	}
}

// tellJob takes in what a subject's job says of scans without a record.
func (b *book) tellJob(before, now entry[record]) {
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
		b.derive(&page{job: &r.Job, by: r.By})
	}
	if now.value.Job.Kind.Judges() {
		b.derive(&page{job: &now.value.Job})
	}
}

// derive sets a scan that has no record.
func (b *book) derive(p *page) {
	if old := b.pages[p.job.ID]; old == nil || old.record == nil {
		b.set(p)
	}
}

func (b *book) removeDerived(id string) {
	if p := b.pages[id]; p != nil && p.record == nil {
		b.remove(id)
	}
}

// removeReplaced is for a subject that has no job any more, which was forgotten if scans
// of replaced ones have no record yet.
func (b *book) removeReplaced(old *record) {
	if old == nil {
		return
	}
	for _, r := range old.Replaced {
		b.removeDerived(r.Job.ID)
	}
}

func (b *book) set(p *page) {
	id := p.id()
	b.count(b.pages[id], p)
	if old := b.pages[id]; old != nil && old.created().Equal(p.created()) && old.places() == p.places() {
		*old = *p
	} else {
		b.takeOut(id)
		b.shelves.put(p)
		b.pages[id] = p
	}
	for reader := range b.readers[id] {
		give(reader, p.scan())
	}
}

// count notes that now comes in the place of old; nil is nothing.
func (b *book) count(old, now *page) {
	if old.over() {
		b.ended--
	}
	if !now.over() {
		return
	}
	if b.ended++; b.ended > b.most+b.most/20 {
		select {
		case b.full <- struct{}{}:
		default: // It is told already.
		}
	}
}

// len counts the scans.
func (b *book) len() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.pages)
}

// records are all scans that have a record, the newest first. They are not to be changed.
func (b *book) records() []*Scan {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	records := make([]*Scan, 0, len(b.pages))
	for _, p := range slices.Backward(b.shelves[place{}]) {
		if p.record != nil {
			records = append(records, p.record)
		}
	}
	return records
}

// remove ends a scan, and with it the reading of it.
func (b *book) remove(id string) {
	b.count(b.pages[id], nil)
	b.takeOut(id)
	for reader := range b.readers[id] {
		close(reader)
	}
	delete(b.readers, id)
}

func (b *book) takeOut(id string) {
	if p := b.pages[id]; p != nil {
		b.shelves.take(p)
		delete(b.pages, id)
	}
}

// give puts s into the reader's one place, for what it has not read yet.
func give(reader chan Scan, s Scan) {
	select {
	case <-reader:
	default:
	}
	reader <- s
}

// at is the scan named id.
func (b *book) at(id string) (s Scan, found bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if p := b.pages[id]; p != nil {
		return p.scan(), true
	}
	return Scan{}, false
}

// unsettled says whether a replaced job's scan has no record that says so.
func (b *book) unsettled(r replaced) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	p := b.pages[r.Job.ID]
	return !p.over() || p.record.State == Cancelled
}

// list gives the scans that the filter wants.
func (b *book) list(f ScanFilter) []Scan {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	pages := b.shelves[f.place()]
	if f.Before != "" {
		p := b.pages[f.Before]
		if p == nil {
			return nil
		}
		at, _ := slices.BinarySearchFunc(pages, p, oldest)
		pages = pages[:at]
	}
	var scans []Scan
	for _, p := range slices.Backward(pages) {
		if f.Limit > 0 && len(scans) == f.Limit {
			break
		}
		if s := p.known(); f.matches(s) {
			scans = append(scans, *s)
		}
	}
	return scans
}

// read gives the scan named id and its changes, until stop is called or it is removed.
func (b *book) read(id string) (changes chan Scan, stop func()) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	p := b.pages[id]
	if p == nil {
		return nil, nil
	}
	changes = make(chan Scan, 1)
	changes <- p.scan()
	if b.readers[id] == nil {
		b.readers[id] = map[chan Scan]bool{}
	}
	b.readers[id][changes] = true
	return changes, func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if b.readers[id][changes] {
			delete(b.readers[id], changes)
			close(changes)
		}
		if len(b.readers[id]) == 0 {
			delete(b.readers, id)
		}
	}
}
