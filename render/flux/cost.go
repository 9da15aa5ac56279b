package flux

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"
)

// What substitution may cost. The library reads and evaluates without limits of its own.
const (
	// maxExpansion is how many bytes the text of an object may have after substitution; an
	// API server takes objects of 3 MiB.
	maxExpansion = 16 << 20
	// maxExpressions is how many expressions a text may hold: each is a call within another.
	maxExpressions = 50_000
	// maxMoved is how many bytes escapes may make the library move: all that follows, for each.
	maxMoved = 10_000_000_000
	// maxMatching is how many steps it may take to match patterns: the square of the value,
	// times the pattern.
	maxMatching = 1_000_000_000
)

// checkText returns what keeps a text from being read.
func checkText(text string) error {
	if n := strings.Count(text, "${"); n > maxExpressions {
		return fmt.Errorf("the text has %d expressions, more than the limit of %d", n, maxExpressions)
	}
	escapes := strings.Count(text, "$$")
	if strings.Contains(text, "${") {
		escapes += strings.Count(text, `\\`) + strings.Count(text, `\/`)
	}
	if escapes*len(text) > maxMoved {
		return fmt.Errorf("the text has %d bytes and %d escaped characters, more than can be read in time", len(text), escapes)
	}
	return nil
}

// cost is a bound of what evaluating costs: the bytes of the value, and steps of matching.
type cost struct{ bytes, steps int }

func (c cost) plus(d cost) cost {
	return cost{min(c.bytes+d.bytes, 1<<40), min(c.steps+d.steps, 1<<40)}
}

// checkCost returns what keeps an expression from being evaluated.
func (r *substituter) checkCost(node parse.Node) error {
	switch c := r.cost(node); {
	case c.bytes > maxExpansion:
		return fmt.Errorf("after substitution the text may have %d bytes, more than the limit of %d", c.bytes, maxExpansion)
	case c.steps > maxMatching:
		return fmt.Errorf("patterns of expressions may take %d steps to match, more than the limit of %d", c.steps, maxMatching)
	}
	return nil
}

func (r *substituter) cost(node parse.Node) cost {
	switch n := node.(type) {
	case *parse.TextNode:
		return cost{bytes: len(n.Value)}
	case *parse.ListNode:
		return r.costOf(n.Nodes)
	case *parse.FuncNode:
		return r.costOfFunc(n)
	}
	return cost{}
}

func (r *substituter) costOf(nodes []parse.Node) cost {
	var sum cost
	for _, n := range nodes {
		sum = sum.plus(r.cost(n))
	}
	return sum
}

func (r *substituter) costOfFunc(n *parse.FuncNode) cost {
	value, args := len(r.values[n.Param]), r.costOf(n.Args)
	switch {
	case strings.HasPrefix(n.Name, "/"): // each byte may be replaced
		return cost{min((value+1)*(args.bytes+1), 1<<40), args.steps}
	case strings.HasPrefix(n.Name, "#"), strings.HasPrefix(n.Name, "%"):
		return cost{value, min(value*value*(args.bytes+1), 1<<40)}.plus(cost{steps: args.steps})
	}
	return cost{value + args.bytes + len(mark), args.steps}
}
