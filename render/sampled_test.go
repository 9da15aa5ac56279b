package render_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/proof"
)

// sampledLeaves is how many located leaves of a repository are proven by counterfactual runs, for each sample.
const sampledLeaves = 300

// sampledLeaf is a located leaf of a rendered object.
type sampledLeaf struct {
	renderer *render.Renderer
	result   *render.Result
	claim    proof.Claim
	told     string
}

// sample is a reproducible random sample of leaves, in which each leaf that was added has the same probability to
// remain.
type sample struct {
	title  string
	random *rand.Rand
	passed int
	leaves []sampledLeaf
	// counts are the numbers of outcomes, whys those of the reasons why nothing was decided.
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

// add offers a leaf to the sample. The sample keeps more leaves than needed, to replace those that cannot be decided.
func (s *sample) add(leaf sampledLeaf) {
	const spare = 4
	s.passed++
	if len(s.leaves) < spare*sampledLeaves {
		s.leaves = append(s.leaves, leaf)
	} else if i := s.random.IntN(s.passed); i < len(s.leaves) {
		s.leaves[i] = leaf
	}
}

// prove changes the text at the places of leaves until enough are decided.
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

// String returns a table of the outcomes.
func (s *sample) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "  counterfactuals of %s: %d of %d confirmed (%.2f %%), %d undecided\n",
		s.title, s.counts[proof.Confirmed], s.decided(), s.confirmed(), s.counts[proof.Undecided])
	writeCounts(&out, s.whys)
	writeExamples(&out, s.examples)
	return out.String()
}
