package queue

import (
	"slices"
	"strings"
)

// place is what scans are looked for by: the number of their repository, or its name in
// lower case. The zero place is that of all scans.
type place struct {
	repository int64
	name       string
}

// nameOf names a repository, of which GitHub ignores the case.
func nameOf(owner, repo string) string { return strings.ToLower(owner + "/" + repo) }

// place is where everything is that the filter wants, with the least besides.
func (f ScanFilter) place() place {
	switch {
	case f.Repository != 0:
		return place{repository: f.Repository}
	case f.Owner != "" && f.Repo != "":
		return place{name: nameOf(f.Owner, f.Repo)}
	}
	return place{}
}

// shelves have pages by their places, each in order. The newest are last, where most come:
// then none has to be moved.
type shelves map[place][]*page

func (s shelves) put(p *page) {
	for _, where := range p.places() {
		at, _ := slices.BinarySearchFunc(s[where], p, oldest)
		s[where] = slices.Insert(s[where], at, p)
	}
}

// take removes a page that is there.
func (s shelves) take(p *page) {
	for _, where := range p.places() {
		at, _ := slices.BinarySearchFunc(s[where], p, oldest)
		if s[where] = slices.Delete(s[where], at, at+1); len(s[where]) == 0 {
			delete(s, where)
		}
	}
}
