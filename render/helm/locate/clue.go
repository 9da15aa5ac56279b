package locate

import (
	"cmp"
	"slices"
	"strings"
)

// clue is what is known about a field before values are tried.
type clue struct {
	field string
	keys  []string
	// text is the value of the field; empty for a missing field, and for literal text of a template.
	text string
	names
	*reads
}

// rank returns how likely a leaf decides the field; 0 when it is not worth a try.
func (c clue) rank(l *Leaf) int {
	rank := 0
	switch text := l.text(); {
	case text == c.text && text != "":
		rank += 8
	case len(text) > 2 && strings.Contains(c.text, text):
		rank += 5
	case len(c.text) > 2 && strings.Contains(text, c.text):
		rank += 4
	}
	read := c.nearness(l)
	if rank == 0 && read == 0 || l.Builtin && !c.readsTogether(l) {
		return 0
	}
	rank += read
	if l.Value == nil { // it removes a value of the chart
		rank += 2
	}
	if len(c.keys) > 0 && strings.EqualFold(l.key(), c.keys[len(c.keys)-1]) {
		rank += 6
	}
	for _, step := range l.Path {
		if name, ok := step.(string); ok && slices.ContainsFunc(c.keys, func(k string) bool { return strings.EqualFold(k, name) }) {
			rank++
		}
	}
	if l.Default {
		rank--
	}
	return max(rank, 0)
}

// candidates returns the leaves to try, the most likely first. Among equally likely leaves, those come first
// whose path has the names of the object and its items: a chart may have many of one kind.
func (c clue) candidates(all []*Leaf) []*Leaf {
	return byRank(all, func(l *Leaf) int {
		if rank := c.rank(l); rank >= readAround {
			return rank*mostNames + min(c.names.in(l), mostNames-1)
		}
		return 0
	})
}

// mostNames is greater than the number of names that count for a leaf.
const mostNames = 8

// byRank returns the leaves with a rank above 0, the highest first.
func byRank(all []*Leaf, rank func(*Leaf) int) []*Leaf {
	type ranked struct {
		*Leaf
		rank int
	}
	var found []ranked
	for _, l := range all {
		if r := rank(l); r > 0 {
			found = append(found, ranked{l, r})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	out := make([]*Leaf, len(found))
	for i, f := range found {
		out[i] = f.Leaf
	}
	return out
}
