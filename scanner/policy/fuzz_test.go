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

// FuzzUpstreamAgrees generates clusters, policies, bindings, params and requests from a seed, either from
// grammars or by recombining and changing recorded suites. It compares the answers and the mutated objects
// with those of the API server's own validating and mutating plugins; nothing may be indeterminate. A seed
// compares some 50 pairs of policy set and request.
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

// number returns the value of an environment variable, or a default.
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

// mostDifferent is the number of different seeds after which a run ends.
const mostDifferent = 10

// run compares pairs and logs its progress.
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

// compareSeed reports whether both agree on the scene of a seed. If not, the test fails with the
// smallest scene that still shows the difference.
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
			seed, describe(d.client), text, show(small), seed)
	}
	return len(differences) == 0
}

// generator generates random scenes.
type generator struct {
	*rand.Rand
	suites []scene
	world  world
}

// newGenerator omits the suites that take a second for each request; spend replaces them.
func newGenerator(t testing.TB) *generator {
	return &generator{suites: loadSuites(t, "cost-"), world: loadWorld(t)}
}

// scene returns the scene of a seed; it is always the same.
func (g *generator) scene(seed uint64) scene {
	g.Rand = rand.New(rand.NewPCG(seed, 0))
	if g.oneIn(3) {
		return g.recombine()
	}
	return g.generate()
}

// oneIn returns true once in n times.
func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// pick returns one of the choices.
func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }
