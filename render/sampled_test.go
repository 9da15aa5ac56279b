package render_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/proof"
)

// sampledLeaves is how many located leaves of a repository are proven by
// counterfactual runs, of each sample.
const sampledLeaves = 300

// sampledLeaf is a located leaf of a rendering.
type sampledLeaf struct {
	renderer *render.Renderer
	result   *render.Result
	claim    proof.Claim
	told     string
}

// sample draws leaves at random, the same at every run: one passes by, each with
// the same chance to stay.
type sample struct {
	title  string
	random *rand.Rand
	passed int
	leaves []sampledLeaf
	// counts are those of outcomes, whys the reasons why nothing could be decided.
	counts   map[proof.Outcome]int
	whys     map[string]int
	examples map[string][]string
}

func newSample(title string) *sample {
	return &sample{
		title: title, random: rand.New(rand.NewPCG(1, 2)),
		counts: map[proof.Outcome]int{}, whys: map[string]int{}, examples: map[string][]string{},
	}
}

// add passes a leaf by. More stay than are needed, to replace those of which
// nothing can be decided.
func (s *sample) add(leaf sampledLeaf) {
	const spare = 4
	s.passed++
	if len(s.leaves) < spare*sampledLeaves {
		s.leaves = append(s.leaves, leaf)
	} else if i := s.random.IntN(s.passed); i < len(s.leaves) {
		s.leaves[i] = leaf
	}
}

// prove changes what is written at the leaves' places, until enough is decided.
func (s *sample) prove(want int) {
	s.random.Shuffle(len(s.leaves), func(i, j int) { s.leaves[i], s.leaves[j] = s.leaves[j], s.leaves[i] })
	for _, leaf := range s.leaves {
		if s.decided() >= want {
			return
		}
		got := proof.Check(leaf.renderer, context.Background(), leaf.result, leaf.claim)
		s.counts[got.Outcome]++
		if got.Outcome != proof.Confirmed {
			why, _, _ := strings.Cut(got.Why, ":")
			why = got.Outcome.String() + ": " + why
			s.whys[why]++
			s.examples[why] = append(s.examples[why], leaf.told+": "+got.Why)
		}
	}
}

func (s *sample) decided() int { return s.counts[proof.Confirmed] + s.counts[proof.Refuted] }

func (s *sample) confirmed() float64 { return percent(s.counts[proof.Confirmed], s.decided()) }

// String is a table of what became of the sample.
func (s *sample) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "  counterfactuals of %s: %d of %d confirmed (%.2f %%), %d undecided\n",
		s.title, s.counts[proof.Confirmed], s.decided(), s.confirmed(), s.counts[proof.Undecided])
	writeCounts(&out, s.whys)
	writeExamples(&out, s.examples)
	return out.String()
}
