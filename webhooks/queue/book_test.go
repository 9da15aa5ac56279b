package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shelved is a book of n scans of that many repositories, in turn.
func shelved(n, repositories int) *book {
	b := newBook()
	for i := range n {
		of := i % repositories
		b.set(Scan{
			ID: fmt.Sprint("scan-", i), Kind: KindPull, Installation: 1, Repository: int64(of + 1), Owner: "octo",
			Repo: fmt.Sprint("repo-", of), State: Completed, Created: time.Unix(int64(i), 0),
		}, true)
	}
	return b
}

// TestBookLists: whatever was written, renamed and removed, each filter gives what looking
// at all scans gives.
func TestBookLists(t *testing.T) {
	b, dice := newBook(), rand.New(rand.NewPCG(6, 5))
	names := []string{"One", "one", "two"}
	for step := range 2000 {
		id := fmt.Sprint("scan-", dice.IntN(100))
		if dice.IntN(4) == 0 {
			b.remove(id)
		} else {
			b.set(Scan{
				ID: id, Repository: int64(dice.IntN(3) + 1), Owner: "Octo", Repo: names[dice.IntN(3)],
				Created: time.Unix(int64(dice.IntN(50)), 0),
			}, true)
		}
		for _, f := range []ScanFilter{
			{}, {Repository: 2}, {Owner: "octo", Repo: "ONE"}, {Repo: "two"}, {Repository: 1, Owner: "octo", Repo: "two"},
			{Repository: 3, Before: id, Limit: 5}, {Owner: "octo", Repo: "one", Before: id},
		} {
			if diff := cmp.Diff(byLooking(b, f), b.list(f)); diff != "" {
				t.Fatalf("step %d, %+v (-all +list):\n%s", step, f, diff)
			}
		}
	}
	for id := range b.pages {
		b.remove(id)
	}
	if len(b.shelves) != 0 {
		t.Errorf("%d shelves are left of nothing", len(b.shelves))
	}
}

// byLooking is what a filter wants, found without an index.
func byLooking(b *book, f ScanFilter) (scans []Scan) {
	from := b.pages[f.Before]
	if f.Before != "" && from == nil {
		return nil
	}
	for _, p := range b.pages {
		if f.matches(&p.Scan) && (from == nil || p.compare(from.Scan) > 0) {
			scans = append(scans, p.Scan)
		}
	}
	slices.SortFunc(scans, Scan.compare)
	if f.Limit > 0 && len(scans) > f.Limit {
		scans = scans[:f.Limit]
	}
	return scans
}

// TestBookLooksAtLittle: for what is asked of one repository the scans of others are not
// looked at, nor those that are not given copied. Enqueue needs the same lock.
func TestBookLooksAtLittle(t *testing.T) {
	b := shelved(10_000, 1000)
	for _, f := range []ScanFilter{{Repository: 7}, {Repository: 7, Pull: 1}, {Owner: "Octo", Repo: "REPO-6", Limit: 1}} {
		if n := len(b.shelves[f.place()]); n != 10 {
			t.Errorf("%+v: %d scans are looked at, want the 10 of the repository", f, n)
		}
	}
	named := ScanFilter{Owner: "Octo", Repo: "Repo-6", Limit: 1}
	if n := testing.AllocsPerRun(10, func() { b.list(named) }); n > 3 { // the name, twice, and the scan
		t.Errorf("%+v: %v allocations", named, n)
	}
}

// BenchmarkScans looks into a book of 100,000 scans of 1,000 repositories.
func BenchmarkScans(b *testing.B) {
	whole := shelved(100_000, 1000)
	for name, f := range map[string]ScanFilter{
		"all":        {},
		"newest":     {Limit: 2000},
		"repository": {Repository: 7},
		"pull":       {Repository: 7, Pull: 1},
		"name":       {Owner: "Octo", Repo: "Repo-6", Limit: 1},
		"no-name":    {Owner: "octo", Repo: "none", Limit: 1},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				whole.list(f)
			}
		})
	}
}

// BenchmarkFill writes 100,000 scans into a book, as it is at start.
func BenchmarkFill(b *testing.B) {
	for b.Loop() {
		shelved(100_000, 1000)
	}
}
