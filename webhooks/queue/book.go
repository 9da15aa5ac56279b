package queue

import (
	"slices"
	"sync"
)

// book has all scans, in order: those with a record, and those whose jobs still wait for
// their first claim, of which the job is the record.
type book struct {
	mutex   sync.Mutex
	pages   map[string]*page
	shelves shelves
	readers map[string]map[chan Scan]bool
}

// page is a scan.
type page struct {
	Scan
	// stored says that there is a record.
	stored bool
}

func newBook() *book {
	return &book{pages: map[string]*page{}, shelves: shelves{}, readers: map[string]map[chan Scan]bool{}}
}

// tellScan takes in a record: see mirror.
func (b *book) tellScan(before, now entry[Scan]) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case now.value != nil:
		b.set(*now.value, true)
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
	for _, r := range now.value.Replaced {
		b.derive(r.scan())
	}
	if now.value.Job.Kind.Judges() {
		b.derive(scanOf(now.value.Job))
	}
}

// scan is the record of a job that was replaced before it was ever claimed.
func (r replaced) scan() Scan {
	s := scanOf(r.Job)
	s.State, s.SupersededBy = Superseded, r.By
	return s
}

// derive sets a scan that has no record.
func (b *book) derive(s Scan) {
	if p := b.pages[s.ID]; p == nil || !p.stored {
		b.set(s, false)
	}
}

func (b *book) removeDerived(id string) {
	if p := b.pages[id]; p != nil && !p.stored {
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

func (b *book) set(s Scan, stored bool) {
	if old := b.pages[s.ID]; old != nil && old.Created.Equal(s.Created) && placesOf(&old.Scan) == placesOf(&s) {
		old.Scan, old.stored = s, stored
	} else {
		b.takeOut(s.ID)
		p := &page{s, stored}
		b.shelves.put(p)
		b.pages[s.ID] = p
	}
	for reader := range b.readers[s.ID] {
		give(reader, s)
	}
}

// remove ends a scan, and with it the reading of it.
func (b *book) remove(id string) {
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
		return p.Scan, true
	}
	return Scan{}, false
}

// unsettled says whether a replaced job's scan has no record that says so.
func (b *book) unsettled(r replaced) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	p := b.pages[r.Job.ID]
	return p == nil || !p.stored || !p.State.Over() || p.State == Cancelled
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
		if f.matches(&p.Scan) {
			scans = append(scans, p.Scan)
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
	changes <- p.Scan
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
