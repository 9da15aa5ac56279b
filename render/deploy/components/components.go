// Package components finds the strongly connected components of a graph.
package components

import "slices"

// Sources returns the strongly connected components of a graph of n nodes to which no edge leads from another
// component. Nodes are numbers from 0 to n-1; next returns the nodes that the edges of a node lead to.
func Sources(n int, next func(node int) []int) (sources [][]int) {
	t := &tarjan{next: next, nodes: make([]node, n)}
	for i := range n {
		if t.nodes[i].order == 0 {
			t.visit(i)
		}
	}
	reached := map[int]bool{}
	for i := range n {
		for _, other := range next(i) {
			if t.nodes[other].component != t.nodes[i].component {
				reached[t.nodes[other].component] = true
			}
		}
	}
	for i, component := range t.components {
		if !reached[i] {
			sources = append(sources, component)
		}
	}
	return sources
}

// tarjan is Tarjan's algorithm.
type tarjan struct {
	next       func(int) []int
	nodes      []node
	stack      []int
	count      int
	components [][]int
}

type node struct {
	order, low int
	onStack    bool
	component  int
}

func (t *tarjan) visit(i int) {
	n := &t.nodes[i]
	t.count++
	n.order, n.low, n.onStack = t.count, t.count, true
	t.stack = append(t.stack, i)
	for _, next := range t.next(i) {
		other := &t.nodes[next]
		switch {
		case other.order == 0:
			t.visit(next)
			n.low = min(n.low, other.low)
		case other.onStack:
			n.low = min(n.low, other.order)
		}
	}
	if n.low != n.order {
		return
	}
	at := slices.Index(t.stack, i)
	component := slices.Clone(t.stack[at:])
	for _, member := range component {
		t.nodes[member].onStack = false
		t.nodes[member].component = len(t.components)
	}
	t.stack = t.stack[:at]
	t.components = append(t.components, component)
}
