package locate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// clue is what is known of a field before values are tried.
type clue struct {
	field string
	keys  []string
	text  string
	found bool
	// template is the text of the template line, if it is known, and around are the lines with
	// the conditions and loops that it is in.
	template, around string
}

// rank says how likely it is that a leaf decides a field; 0 when it is not worth a try.
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
	key := l.key()
	switch named := mentions(c.template, key); {
	case rank == 0 && !named && !mentions(c.around, key):
		return 0
	case named:
		rank += 5
	case mentions(c.around, key):
		rank += 4
	}
	if len(c.keys) > 0 && strings.EqualFold(key, c.keys[len(c.keys)-1]) {
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

// mentions reports whether the text of a template has a field with a key.
func mentions(text, key string) bool {
	for {
		i := strings.Index(text, "."+key)
		if i < 0 || key == "" {
			return false
		}
		text = text[i+1+len(key):]
		if text == "" || !isWord(text[0]) {
			return true
		}
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// block is an action that begins or ends a block.
var block = regexp.MustCompile(`\{\{-?\s*(if|with|range|define|block|else|end)\b[^}]*`)

// around returns the actions around a line of a template: those of the blocks that it is in.
func around(lines []string, line int) string {
	var open []string
	for _, text := range lines[:min(max(line-1, 0), len(lines))] {
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			switch found[1] {
			case "end":
				open = open[:max(len(open)-1, 0)]
			case "else":
				if len(open) > 0 {
					open[len(open)-1] += " " + found[0]
				}
			default:
				open = append(open, found[0])
			}
		}
	}
	return strings.Join(open, "\n")
}

// candidates are the leaves to try, the most likely first.
func (c clue) candidates(all []*Leaf) []*Leaf {
	type ranked struct {
		*Leaf
		rank int
	}
	var found []ranked
	for _, l := range all {
		if rank := c.rank(l); rank >= 4 {
			found = append(found, ranked{l, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	var out []*Leaf
	for _, f := range found {
		out = append(out, f.Leaf)
	}
	return out
}
