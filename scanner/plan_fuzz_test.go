package scanner_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// FuzzRenderingLess generates, from a seed, a small repository whose roots depend on each other, and
// a change, and checks that a scan reports the same as one that renders every root. It scans git
// trees with a cache that all seeds share and that has the base, and for every fourth seed also trees
// without names and without a cache.
//
// PREADMIT_FUZZ_PAIRS=100000 go test -timeout 0 -run FuzzRenderingLess ./scanner
// compares that many, with consecutive seeds from PREADMIT_FUZZ_SEED (1000) on;
// PREADMIT_FUZZ_PAIRS=1 PREADMIT_FUZZ_SEED=n repeats seed n.
func FuzzRenderingLess(f *testing.F) {
	for seed := range uint64(testall.Count(30, 300)) {
		f.Add(seed)
	}
	if pairs := numberOf(f, "PREADMIT_FUZZ_PAIRS", 0); pairs > 0 {
		runPlans(f, pairs, uint64(numberOf(f, "PREADMIT_FUZZ_SEED", 1000)))
	}
	cache := newPlanCache(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		(&planTally{cache: cache}).compare(t, seed)
	})
}

// numberOf returns the number in an environment variable.
func numberOf(t testing.TB, name string, otherwise int) int {
	text, ok := os.LookupEnv(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// planTally counts what was compared, to show that the comparison covers enough.
type planTally struct {
	pairs, findings, indeterminate, requests, untouched, partial, refusedInput, different int

	cache *planCache
}

// planCache is a cache that many scans share.
type planCache struct {
	*render.Cache
	used atomic.Int64
}

func newPlanCache(t testing.TB) *planCache {
	t.Helper()
	cache, err := render.OpenCache(t.TempDir(), 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	return &planCache{Cache: cache}
}

// warm stores the base of a change in the cache, and returns the change with trees whose
// directories have names.
func (c *planCache) warm(t testing.TB, in scanner.Input) scanner.Input {
	t.Helper()
	const often = 200
	if c.used.Add(1)%often == 0 {
		if err := c.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	in.Render.Cache = c.Cache
	base := *in.Base
	base.FS = treetest.Name(in.Base.FS.(fstest.MapFS))
	in.Base, in.Head.FS = &base, treetest.Name(in.Head.FS.(fstest.MapFS))
	r := sources.NewRenderer(base.FS, in.Render)
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r.CacheTree(found.Roots)
	return in
}

// mostDifferentPlans is the number of differing seeds after which a run ends.
const mostDifferentPlans = 10

// runPlans compares pairs and prints its progress.
func runPlans(t testing.TB, pairs int, seed uint64) {
	start, told := time.Now(), time.Now()
	first, tally := seed, &planTally{cache: newPlanCache(t)}
	for ; tally.pairs < pairs && tally.different < mostDifferentPlans; seed++ {
		tally.compare(t, seed)
		if time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%s seed %d: %s\n", time.Since(start).Round(time.Second), seed, tally)
		}
	}
	took := time.Since(start)
	t.Logf("seeds %d to %d: %s; %s, %s a pair", first, seed-1, tally, took.Round(time.Second), took/time.Duration(max(tally.pairs, 1)))
}

func (y *planTally) String() string {
	return fmt.Sprintf("%d pairs, %d findings, %d indeterminate, %d requests, %d untouched, %d partial, %d refused input, %d different",
		y.pairs, y.findings, y.indeterminate, y.requests, y.untouched, y.partial, y.refusedInput, y.different)
}

// compare compares the scans of the input generated from a seed.
func (y *planTally) compare(t testing.TB, seed uint64) {
	t.Helper()
	in := newPlanGenerator(seed).input()
	y.pairs++
	whole, err := scanner.ScanWhole(context.Background(), in)
	scans := map[string]scanner.Input{"with a cache": y.cache.warm(t, in)}
	if seed%4 == 0 {
		scans["rendering less"] = in
	}
	for how, in := range scans {
		got, gotErr := scanner.Scan(context.Background(), in)
		if fmt.Sprint(err) != fmt.Sprint(gotErr) {
			y.different++
			t.Errorf("seed %d: %s: %v, everything: %v", seed, how, gotErr, err)
		}
		if err != nil || gotErr != nil {
			y.refusedInput++
			continue
		}
		y.count(whole, got)
		if diff := planDiff(whole, got); diff != "" {
			y.different++
			fmt.Fprintf(os.Stderr, "seed %d differs, %s\n%s\n", seed, how, diff) // before a run is interrupted
			t.Errorf("seed %d: %s says something else (-everything +what matters):\n%s\n%s\nrepeat: PREADMIT_FUZZ_PAIRS=1 PREADMIT_FUZZ_SEED=%d go test -run FuzzRenderingLess/seed#0 ./scanner",
				seed, how, diff, show(in), seed)
		}
	}
}

func (y *planTally) count(whole, got *report.Report) {
	y.findings += len(whole.Findings)
	y.indeterminate += len(whole.Indeterminate)
	y.requests += whole.Summary.Requests
	y.untouched += got.Summary.Roots.Untouched
	if got.Summary.Roots.Untouched > 0 && len(whole.Findings) > 0 {
		y.partial++
	}
}

// show prints a change for a failure.
func show(in scanner.Input) string {
	var b strings.Builder
	fmt.Fprintf(&b, "config: %+v\n", in.Config)
	head := filesOf(in.Head.FS)
	base := filesOf(in.Base.FS)
	for name, text := range base {
		switch {
		case head[name] == text:
			fmt.Fprintf(&b, "-- both/%s --\n%s", name, text)
		case head[name] == "":
			fmt.Fprintf(&b, "-- base/%s --\n%s", name, text)
		default:
			fmt.Fprintf(&b, "-- base/%s --\n%s-- head/%s --\n%s", name, text, name, head[name])
		}
	}
	for name, text := range head {
		if base[name] == "" {
			fmt.Fprintf(&b, "-- head/%s --\n%s", name, text)
		}
	}
	return b.String()
}

func filesOf(fsys fs.FS) map[string]string {
	files := map[string]string{}
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := fs.ReadFile(fsys, name)
			files[name] = string(data)
		}
		return err
	})
	return files
}
