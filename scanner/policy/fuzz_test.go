package policy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/testall"
)

// FuzzUpstreamAgrees generates clusters, policies, bindings, params and requests
// from a seed - anew from grammars, or by recombining and changing what the
// recorded suites hold - and demands the answers of the API server's own plugins,
// which validate and mutate, the mutated objects, and that nothing is indeterminate. A seed compares some 50 pairs of policy set
// and request.
//
// PREADMIT_FUZZ_PAIRS=200000 go test -timeout 0 -run FuzzUpstreamAgrees ./scanner/policy
// compares that many, from seeds that follow each other, PREADMIT_FUZZ_SEED (1000)
// being the first; PREADMIT_FUZZ_PAIRS=1 PREADMIT_FUZZ_SEED=n repeats seed n.
func FuzzUpstreamAgrees(f *testing.F) {
	g := newGenerator(f)
	c := newComparison()
	for seed := range uint64(testall.Count(5, 100)) {
		f.Add(seed)
	}
	if pairs := number(f, "PREADMIT_FUZZ_PAIRS", 0); pairs > 0 {
		run(f, c, g, pairs, uint64(number(f, "PREADMIT_FUZZ_SEED", 1000)))
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		compareSeed(t, c, g, seed)
	})
}

// number is that of an environment variable.
func number(t testing.TB, name string, otherwise int) int {
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

// mostDifferent is the number of seeds that differ after which a run ends.
const mostDifferent = 10

// run compares pairs and tells how far it is.
func run(t testing.TB, c *comparison, g *generator, pairs int, seed uint64) {
	start, told := time.Now(), time.Now()
	first, different := seed, 0
	for ; c.tally.pairs < pairs && different < mostDifferent; seed++ {
		if !compareSeed(t, c, g, seed) {
			different++
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%s seed %d: %+v, %d seeds differ\n", time.Since(start).Round(time.Second), seed, c.tally, different)
		}
	}
	took := time.Since(start)
	t.Logf("seeds %d to %d: %+v, %d seeds differ; %s, %s a pair", first, seed-1, c.tally, different, took.Round(time.Second), took/time.Duration(max(c.tally.pairs, 1)))
}

// compareSeed reports whether the two agree on what a seed generates. If not, the
// test fails with the smallest scene that still shows the difference.
func compareSeed(t testing.TB, c *comparison, g *generator, seed uint64) (agree bool) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("seed %d: panic: %v\n%s", seed, r, debug.Stack())
			agree = false
		}
	}()
	s := g.scene(seed)
	differences := c.scene(t, s)
	for i, d := range differences {
		if i == 3 {
			t.Errorf("seed %d: and %d more", seed, len(differences)-i)
			break
		}
		small, text := shrink(t, s, d)
		t.Errorf("seed %d: %s (-upstream +ours):\n%s\n%s\nrepeat: PREADMIT_FUZZ_PAIRS=1 PREADMIT_FUZZ_SEED=%d go test -run FuzzUpstreamAgrees/seed#0 ./scanner/policy",
			seed, describe(d.ask), text, show(small), seed)
	}
	return len(differences) == 0
}

// generator makes scenes at random.
type generator struct {
	*rand.Rand
	suites []scene
	world  world
}

// newGenerator leaves out the suites that take a second for each request; spend
// takes their place.
func newGenerator(t testing.TB) *generator {
	return &generator{suites: loadSuites(t, "cost-"), world: loadWorld(t)}
}

// scene is what a seed generates: always the same.
func (g *generator) scene(seed uint64) scene {
	g.Rand = rand.New(rand.NewPCG(seed, 0))
	if g.oneIn(3) {
		return g.recombine()
	}
	return g.generate()
}

// oneIn is true once in n times.
func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// pick returns one of the choices.
func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }
