package flux

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"
)

// Limits of substitution. The library that reads and evaluates expressions has no limits of its own.
const (
	// maxExpansion limits the text of an object after substitution, in bytes; an API server accepts objects of up to 3
	// MiB.
	maxExpansion = 16 << 20
	// maxExpressions limits the expressions of a text: each is a nested call in the library.
	maxExpressions = 50_000
	// maxMoved limits the bytes that the library copies for escapes: for each one, all bytes that follow it.
	maxMoved = 10_000_000_000
	// maxMatching limits the steps of matching patterns: the square of the value's length, times the length of the
	// pattern.
	maxMatching = 1_000_000_000
)

// checkText returns an error for a text that exceeds the limits of reading.
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

// cost is an upper bound of the cost of an evaluation: the bytes of the value, and the steps of matching.
type cost struct{ bytes, steps int }

func (c cost) plus(d cost) cost {
	return cost{min(c.bytes+d.bytes, 1<<40), min(c.steps+d.steps, 1<<40)}
}

// checkCost returns an error for an expression that exceeds the limits of evaluation.
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
	case strings.HasPrefix(n.Name, "/"): // each byte may be replaced by the argument
		return cost{min((value+1)*(args.bytes+1), 1<<40), args.steps}
	case strings.HasPrefix(n.Name, "#"), strings.HasPrefix(n.Name, "%"):
		return cost{value, min(value*value*(args.bytes+1), 1<<40)}.plus(cost{steps: args.steps})
	}
	return cost{value + args.bytes + len(mark), args.steps}
}
