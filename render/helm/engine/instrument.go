package engine

import (
	"maps"
	"slices"
	"strconv"
	"text/template/parse"
)

// node is a part of a template for which the tracer is called.
type node struct {
	file *parsedFile
	// pos is its offset in the text of the file.
	pos int
	// literal is set for text, as opposed to an action.
	literal bool
	// parent is the index of the control action around it, -1 if there is none.
	parent int
	// pipe is the pipeline of an action.
	pipe *parse.PipeNode
}

// nodes are nodes by number.
type nodes struct {
	// first is the number of the first node.
	first int
	all   []node
}

// ofRun is the first number of a run's own nodes: those of texts passed to `tpl`.
const ofRun = 1 << 30

// node returns the node with a number.
func (r *run) node(id int) node {
	if id >= ofRun {
		return r.nodes.all[id-ofRun]
	}
	r.engine.mu.RLock()
	defer r.engine.mu.RUnlock()
	return r.engine.nodes.all[id]
}

// The functions that instrumented templates call. Charts cannot call them: their texts are parsed before these
// names are defined.
const (
	passName  = "preadmitPass"
	writeName = "preadmitWrite"
	enterName = "preadmitEnter"
	leaveName = "preadmitLeave"
	// kubeVersionName is called before a node that names the version of Kubernetes.
	kubeVersionName = "preadmitKubeVersion"
)

// instrument inserts the tracer's actions into a tree.
func (ns *nodes) instrument(file *parsedFile, tree *parse.Tree) {
	if tree.Root != nil {
		ns.list(file, tree.Root, -1)
	}
}

// list instruments a list of nodes. Even an empty list gets an action, so that every iteration of a loop is
// counted.
func (ns *nodes) list(file *parsedFile, list *parse.ListNode, parent int) {
	if list == nil {
		return
	}
	var out []parse.Node
	if len(list.Nodes) == 0 {
		out = append(out, tracingAction(passName, ns.note(node{file: file, pos: int(list.Pos), parent: parent}), list.Pos))
	}
	for _, n := range list.Nodes {
		if file.namesKubeVersion && namesKubeVersion(n) {
			out = append(out, tracingAction(kubeVersionName, 0, n.Position()))
		}
		out = append(out, ns.item(file, n, parent)...)
	}
	list.Nodes = out
}

// item returns a node with its tracing actions.
func (ns *nodes) item(file *parsedFile, n parse.Node, parent int) []parse.Node {
	at := func(name string, about node) parse.Node {
		about.file, about.pos, about.parent = file, int(n.Position()), parent
		return tracingAction(name, ns.note(about), n.Position())
	}
	switch n := n.(type) {
	case *parse.TextNode:
		return []parse.Node{at(passName, node{literal: true}), n}
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return []parse.Node{at(passName, node{pipe: n.Pipe}), n}
		}
		about := node{file: file, pos: int(n.Pos), parent: parent, pipe: &parse.PipeNode{Cmds: slices.Clone(n.Pipe.Cmds)}}
		id := ns.note(about)
		n.Pipe.Cmds = append(n.Pipe.Cmds, command(writeName, id, n.Pos))
		return []parse.Node{tracingAction(passName, id, n.Pos), n}
	case *parse.TemplateNode:
		return []parse.Node{at(enterName, node{pipe: n.Pipe}), n, tracingAction(leaveName, 0, n.Pos)}
	case *parse.IfNode:
		return ns.branch(file, n, &n.BranchNode, parent)
	case *parse.RangeNode:
		return ns.branch(file, n, &n.BranchNode, parent)
	case *parse.WithNode:
		return ns.branch(file, n, &n.BranchNode, parent)
	case *parse.BreakNode, *parse.ContinueNode, *parse.CommentNode:
		return []parse.Node{n}
	}
	return []parse.Node{at(passName, node{}), n}
}

func (ns *nodes) branch(file *parsedFile, n parse.Node, b *parse.BranchNode, parent int) []parse.Node {
	id := ns.note(node{file: file, pos: int(b.Pos), parent: parent, pipe: b.Pipe})
	ns.list(file, b.List, id)
	ns.list(file, b.ElseList, id)
	return []parse.Node{tracingAction(passName, id, b.Pos), n}
}

// note stores a node and returns its number.
func (ns *nodes) note(n node) int {
	ns.all = append(ns.all, n)
	return ns.first + len(ns.all) - 1
}

// actionNodes holds the nodes of an action `{{name id}}`, so that they are allocated at once.
type actionNodes struct {
	action  parse.ActionNode
	pipe    parse.PipeNode
	command parse.CommandNode
	name    parse.IdentifierNode
	number  parse.NumberNode
	cmds    [1]*parse.CommandNode
	args    [2]parse.Node
}

// tracingAction returns the action `{{name id}}`.
func tracingAction(name string, id int, pos parse.Pos) parse.Node {
	t := new(actionNodes)
	t.cmds[0] = t.call(name, id, pos)
	t.pipe = parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: t.cmds[:]}
	t.action = parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: &t.pipe}
	return &t.action
}

// command returns the command `name id` of a pipeline.
func command(name string, id int, pos parse.Pos) *parse.CommandNode {
	return new(actionNodes).call(name, id, pos)
}

func (t *actionNodes) call(name string, id int, pos parse.Pos) *parse.CommandNode {
	t.name = parse.IdentifierNode{NodeType: parse.NodeIdentifier, Pos: pos, Ident: name}
	t.number = parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: int64(id), IsUint: true, Uint64: uint64(id), Text: strconv.Itoa(id)}
	t.args = [2]parse.Node{&t.name, &t.number}
	t.command = parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: t.args[:]}
	return &t.command
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
