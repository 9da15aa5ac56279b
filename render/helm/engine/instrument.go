package engine

import (
	"maps"
	"slices"
	"strconv"
	"text/template/parse"
)

// node is a part of a template that execution passes.
type node struct {
	file *parsedFile
	// pos is its offset in the text of the file.
	pos int
	// literal is set for text, as opposed to an action.
	literal bool
	// parent is the index of the control action around it, -1 if there is none.
	parent int
	// pipe is what an action evaluates.
	pipe *parse.PipeNode
}

// The functions that instrumented templates call. Charts cannot: their texts are parsed before
// these names are defined.
const (
	passName  = "preadmitPass"
	writeName = "preadmitWrite"
	enterName = "preadmitEnter"
	leaveName = "preadmitLeave"
)

// instrument puts the tracer's actions into a tree.
func (e *Engine) instrument(file *parsedFile, tree *parse.Tree) {
	if tree.Root != nil {
		e.list(file, tree.Root, -1)
	}
}

// list instruments a list of nodes. It begins with an action even if it is empty, so that every
// iteration of a loop is counted.
func (e *Engine) list(file *parsedFile, list *parse.ListNode, parent int) {
	if list == nil {
		return
	}
	var out []parse.Node
	if len(list.Nodes) == 0 {
		out = append(out, tell(passName, e.note(node{file: file, pos: int(list.Pos), parent: parent}), list.Pos))
	}
	for _, n := range list.Nodes {
		out = append(out, e.item(file, n, parent)...)
	}
	list.Nodes = out
}

// item returns a node with the actions that go with it.
func (e *Engine) item(file *parsedFile, n parse.Node, parent int) []parse.Node {
	at := func(name string, about node) parse.Node {
		about.file, about.pos, about.parent = file, int(n.Position()), parent
		return tell(name, e.note(about), n.Position())
	}
	switch n := n.(type) {
	case *parse.TextNode:
		return []parse.Node{at(passName, node{literal: true}), n}
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return []parse.Node{at(passName, node{pipe: n.Pipe}), n}
		}
		about := node{file: file, pos: int(n.Pos), parent: parent, pipe: &parse.PipeNode{Cmds: slices.Clone(n.Pipe.Cmds)}}
		id := e.note(about)
		n.Pipe.Cmds = append(n.Pipe.Cmds, command(writeName, id, n.Pos))
		return []parse.Node{tell(passName, id, n.Pos), n}
	case *parse.TemplateNode:
		return []parse.Node{at(enterName, node{pipe: n.Pipe}), n, tell(leaveName, 0, n.Pos)}
	case *parse.IfNode:
		return e.branch(file, n, &n.BranchNode, parent)
	case *parse.RangeNode:
		return e.branch(file, n, &n.BranchNode, parent)
	case *parse.WithNode:
		return e.branch(file, n, &n.BranchNode, parent)
	case *parse.BreakNode, *parse.ContinueNode, *parse.CommentNode:
		return []parse.Node{n}
	}
	return []parse.Node{at(passName, node{}), n}
}

func (e *Engine) branch(file *parsedFile, n parse.Node, b *parse.BranchNode, parent int) []parse.Node {
	id := e.note(node{file: file, pos: int(b.Pos), parent: parent, pipe: b.Pipe})
	e.list(file, b.List, id)
	e.list(file, b.ElseList, id)
	return []parse.Node{tell(passName, id, b.Pos), n}
}

// note gives a node its number.
func (e *Engine) note(n node) int {
	e.nodes = append(e.nodes, n)
	return len(e.nodes) - 1
}

// tell is the action `{{name id}}`.
func tell(name string, id int, pos parse.Pos) parse.Node {
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{command(name, id, pos)}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
}

func command(name string, id int, pos parse.Pos) *parse.CommandNode {
	number := &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: int64(id), IsUint: true, Uint64: uint64(id), Text: strconv.Itoa(id)}
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{parse.NewIdentifier(name).SetPos(pos), number}}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
