package proof

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// Settle proves a claim. When its place is refuted, it tries the other places of the root's files that contain
// the field's value, as long as renders are left. It returns the proven place, else the claim's.
func (p *Prover) Settle(ctx context.Context, c Claim) (origin.Place, Proof) {
	first := p.Prove(ctx, c)
	if first.Outcome != Refuted || c.Place.Evidence == origin.Removed {
		return c.Place, first
	}
	for _, at := range p.others(c) {
		other := c
		other.Place = origin.Place{Position: at, Evidence: origin.Inferred}
		if proof := p.Prove(ctx, other); proof.Outcome == Confirmed {
			return other.Place, proof
		}
	}
	return c.Place, first
}

// candidate is a scalar of a file that contains a field's value or a part of it.
type candidate struct {
	at tree.Position
	// rank is lower for more likely candidates.
	rank int
}

// others returns the places that a field's value may come from, without the claim's own: first those with the
// field's key and value, then those with the same value, and the outermost files first.
func (p *Prover) others(c Claim) []tree.Position {
	s := newSubject(p.result.Objects, c)
	if !s.found || !s.scalar() || textOf(s.value) == "" || len(s.steps) == 0 {
		return nil
	}
	seek := seeker{texts: s.target(c), key: s.steps[len(s.steps)-1].Key}
	for _, file := range p.files().Files {
		if data, real, err := p.renderer.Tree().Load(file, tree.NewTrace()); err == nil {
			text := tree.Normalize(data)
			for _, chunk := range tree.SplitChunks(text) {
				seek.document(origin.NewSnippet(real, chunk.Text, chunk.Line), chunk.Text)
			}
		}
	}
	slices.SortStableFunc(seek.found, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	var out []tree.Position
	for _, found := range seek.found {
		if origin.Start(found.at) != origin.Start(c.Place.Position) {
			out = append(out, found.at)
		}
	}
	return out
}

// seeker looks for scalars that contain a field's value.
type seeker struct {
	texts []string
	key   string
	found []candidate
}

// document searches a document, or a patch that is a string in one.
func (s *seeker) document(at *origin.Snippet, text string) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) == nil {
		s.node(at, &doc, "")
	}
}

func (s *seeker) node(at *origin.Snippet, n *yaml.Node, key string) {
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			s.node(at, n.Content[i+1], n.Content[i].Value)
		}
	case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, ":") && strings.Contains(n.Value, "\n"):
		if spelling := origin.SpellingOf(n, at.Lines); spelling != nil {
			inner := origin.NewSnippet(at.Path, n.Value, 0)
			inner.Spelling = spelling.In(at)
			s.document(inner, n.Value)
		}
		s.scalar(at, n, key)
	case n.Kind == yaml.ScalarNode:
		s.scalar(at, n, key)
	default:
		for _, child := range n.Content {
			s.node(at, child, key)
		}
	}
}

func (s *seeker) scalar(at *origin.Snippet, n *yaml.Node, key string) {
	for _, text := range s.texts {
		rank := 2
		switch {
		case text == "" || n.Value == "":
			continue
		case n.Value == text && (key == s.key || key == "value"):
			rank = 0
		case n.Value == text:
			rank = 1
		case !strings.Contains(text, n.Value) && !strings.Contains(n.Value, text):
			continue
		}
		s.found = append(s.found, candidate{at.Position(n), rank})
		return
	}
}
