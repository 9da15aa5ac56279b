package render_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/rules"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/render/tree"
)

// provenance counts what is known about the leaves of rendered objects.
type provenance struct {
	trees, roots, objects, leaves int
	evidence                      map[string]int
	// agreement counts, of the located leaves, the ways in which line and value agree.
	agreement map[string]int
	// reasons counts the reasons for leaves without a line.
	reasons  map[string]int
	examples map[string][]string
	// samples are a sample of all located leaves, and one of those found by a rule.
	samples [2]*sample
}

func newProvenance() *provenance {
	return &provenance{
		evidence: map[string]int{}, agreement: map[string]int{}, reasons: map[string]int{}, examples: map[string][]string{},
		samples: [2]*sample{newSample("located leaves"), newSample("inferred leaves")},
	}
}

// The outcomes of locating a leaf.
const (
	outMarked    = "marked"
	outInferred  = "inferred"
	outExplained = "explained"
	outUnknown   = "unknown"
	outDisagrees = "DISAGREES"
)

// TestProvenance measures on real repositories how many leaves of the rendered objects are located or explained,
// whether the text at the lines agrees with the leaves, and whether a random sample of leaves changes with the lines.
// With PREADMIT_PROVENANCE=all it checks every root of every head branch, otherwise a sample of the roots of the last
// one, with fewer proofs. PREADMIT_VERBOSE=n prints n examples of each reason.
func TestProvenance(t *testing.T) {
	all := os.Getenv("PREADMIT_PROVENANCE") == "all"
	for _, bundle := range corpora(t) {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			c := clone(t, bundle)
			branches := c.branches
			every, proven := 1, sampledLeaves
			if !all {
				branches, every, proven = branches[len(branches)-1:], locatedRoots, sampledLeaves/60
			}
			p := newProvenance()
			seen := map[string]bool{}
			for _, branch := range branches {
				p.tree(t, located(t, bundle, branch, every), seen)
			}
			fmt.Printf("\n%s: %s\n%s", name, strings.Join(branches, " "), p)
			for _, s := range p.samples {
				s.prove(proven)
				fmt.Print(s)
			}
			p.check(t)
		})
	}
}

// tree checks the roots of a tree, except those that read the same files as an earlier one.
func (p *provenance) tree(t *testing.T, l *locatedTree, seen map[string]bool) {
	t.Helper()
	read := newReader(l.fsys)
	p.trees++
	for _, root := range l.roots {
		id := fmt.Sprint(root.result.Root.Dir, root.result.Trace)
		if root.result.Problem != nil || seen[id] {
			continue
		}
		seen[id] = true
		p.root(t, l.renderer, read, root.result, root.origins)
	}
}

func (p *provenance) root(t *testing.T, r *render.Renderer, read *reader, result *render.Result, sources []*origin.Origin) {
	t.Helper()
	if len(sources) != len(result.Objects) {
		t.Fatalf("%s: %d sources for %d objects", result.Root.Dir, len(sources), len(result.Objects))
	}
	p.roots++
	for i, source := range sources {
		p.objects++
		content := result.Objects[i].Content()
		kind, name := render.KindAndName(content)
		everyLeaf(content, "", func(path string) {
			value, _ := origin.Field(content, path)
			place := source.Place(path, origin.Whole)
			told := fmt.Sprintf("%s %s/%s %s = %.80q at %s", result.Root.Dir, kind, name, path, fmt.Sprint(value), place.Position)
			p.leaf(read, place, told, path, value)
			p.sample(sampledLeaf{r, result, proof.Claim{Object: i, Field: path, Place: place}, told})
		})
	}
}

func (p *provenance) sample(leaf sampledLeaf) {
	if leaf.claim.Place.Found() {
		p.samples[0].add(leaf)
	}
	if leaf.claim.Place.Evidence == origin.Inferred {
		p.samples[1].add(leaf)
	}
}

// leaf counts one leaf; told describes it as an example.
func (p *provenance) leaf(read *reader, place origin.Place, told, path string, value any) {
	p.leaves++
	if !place.Found() {
		out, why := outExplained, place.Why
		switch why {
		case "":
			out, why = outUnknown, "no reason is told"
		case rules.WhyUnknown:
			out = outUnknown
		}
		p.evidence[out]++
		p.reason(why, told)
		return
	}
	p.evidence[map[origin.Evidence]string{origin.Marked: outMarked, origin.Inferred: outInferred}[place.Evidence]]++
	steps := origin.ParsePath(path)
	how := read.agrees(place.Position, steps[len(steps)-1].Key, value)
	if how == "" && read.isTemplate(place.Path) { // TestProvenance of render/helm/locate compares those
		how = "a template of a chart"
	}
	if how == "" {
		how = outDisagrees
		p.reason(outDisagrees, told)
	}
	p.agreement[how]++
}

func (p *provenance) reason(why, example string) {
	p.reasons[why]++
	p.examples[why] = append(p.examples[why], example)
}

func (p *provenance) located() int { return p.evidence[outMarked] + p.evidence[outInferred] }

// String returns a table of the shares.
func (p *provenance) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "  %d leaves of %d objects of %d renderings in %d trees\n", p.leaves, p.objects, p.roots, p.trees)
	for _, e := range []string{outMarked, outInferred, outExplained, outUnknown} {
		fmt.Fprintf(&out, "  %9d  %6.2f %%  %s\n", p.evidence[e], percent(p.evidence[e], p.leaves), e)
	}
	writeShares(&out, "line and value agree", p.agreement, p.located())
	if len(p.reasons) > 0 {
		writeShares(&out, "without a line", p.reasons, p.leaves)
	}
	writeExamples(&out, p.examples)
	return out.String()
}

// writeExamples writes PREADMIT_VERBOSE examples of each reason.
func writeExamples(out *strings.Builder, examples map[string][]string) {
	for _, why := range slices.Sorted(maps.Keys(examples)) {
		list := examples[why]
		for i, n := 0, min(tree.Atoi(os.Getenv("PREADMIT_VERBOSE")), len(list)); i < n; i++ { // spread over all
			fmt.Fprintf(out, "  %s: %s\n", why, list[i*len(list)/n])
		}
	}
}

// writeCounts writes counts in descending order.
func writeCounts(out *strings.Builder, counts map[string]int) {
	for _, key := range descending(counts) {
		fmt.Fprintf(out, "  %9d    %s\n", counts[key], key)
	}
}

// writeShares writes counts in descending order, with their shares of a whole.
func writeShares(out *strings.Builder, title string, counts map[string]int, whole int) {
	fmt.Fprintf(out, "  %s:\n", title)
	for _, key := range descending(counts) {
		fmt.Fprintf(out, "  %9d  %6.2f %%    %s\n", counts[key], percent(counts[key], whole), key)
	}
}

func descending(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// The minimum shares, in percent.
const (
	leastKnown     = 99   // of the leaves are located or explained
	leastAgree     = 99.9 // of the located leaves agree with their line
	leastConfirmed = 99.5 // of the sampled leaves are confirmed by a run with another text at the line
)

func (p *provenance) check(t *testing.T) {
	t.Helper()
	if known := percent(p.leaves-p.evidence[outUnknown], p.leaves); known < leastKnown {
		t.Errorf("of %.2f %% of the leaves it is known where they come from, want %d %%", known, leastKnown)
	}
	if agree := percent(p.located()-p.agreement[outDisagrees], p.located()); agree < leastAgree {
		t.Errorf("of %.2f %% of the located leaves line and value agree, want %.1f %%", agree, leastAgree)
	}
	for _, s := range p.samples {
		if s.decided() > 0 && s.confirmed() < leastConfirmed {
			t.Errorf("%.2f %% of the sample of %s are confirmed, want %.1f %%", s.confirmed(), s.title, leastConfirmed)
		}
	}
}
