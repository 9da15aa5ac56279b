package engine

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
)

// Action returns the action at a place, without its delimiters, and those that begin the blocks around it, the
// innermost first. own is empty for text.
func (f *File) Action(p Place) (own string, around []string) {
	if f.run == nil || p.Node < 0 {
		return "", nil
	}
	n := f.run.node(p.Node)
	if n.pipe != nil {
		own = n.pipe.String()
	}
	for n.parent >= 0 {
		if n = f.run.node(n.parent); n.pipe != nil {
			around = append(around, n.pipe.String())
		}
	}
	return own, around
}

// Beside returns the actions around texts that write a key, in the file of a place, and those that follow such a
// text: what decides whether the key is there is among them.
func (f *File) Beside(p Place, key string) []string {
	if f.run == nil || p.Node < 0 {
		return nil
	}
	s := search{run: f.run, in: f.run.node(p.Node).file, seen: map[string]bool{}}
	for _, name := range sortedKeys(s.in.trees) {
		s.beside(s.in.trees[name].Root, nil, []byte(key+":"))
	}
	return s.found
}

// beside adds the actions around texts that hold a key, and those that follow such a text.
func (s *search) beside(list *parse.ListNode, around []string, key []byte) {
	if list == nil {
		return
	}
	after := false
	for _, n := range list.Nodes {
		if text, ok := n.(*parse.TextNode); ok {
			if after = bytes.Contains(text.Text, key); after {
				s.add(around...)
			}
			continue
		}
		pipe, lists := partsOf(n)
		if pipe == nil || isTracing(pipe) {
			continue
		}
		if after {
			s.add(textOf(n, pipe))
		}
		after = false
		for _, inner := range lists {
			s.beside(inner, append(around[:len(around):len(around)], textOf(n, pipe)), key)
		}
	}
}

// maxFollowed bounds how many actions Follow returns.
const maxFollowed = 2_000

// Follow returns the actions that others at a place depend on by way of variables and of templates that they
// include: those that declare, assign or modify a variable, those of the templates, and those around them.
func (f *File) Follow(p Place, actions []string) []string {
	if f.run == nil || p.Node < 0 {
		return nil
	}
	s := search{run: f.run, in: f.run.node(p.Node).file, seen: map[string]bool{}}
	for _, text := range actions {
		s.seen[text] = true
	}
	for next := actions; len(next) > 0 && len(s.found) < maxFollowed; {
		from := len(s.found)
		s.variables(next)
		s.templates(next)
		next = s.found[from:]
	}
	return s.found
}

// search looks for actions in parsed templates.
type search struct {
	run   *run
	in    *parsedFile
	seen  map[string]bool
	found []string
}

var (
	variable = regexp.MustCompile(`\$\w+`)
	included = regexp.MustCompile(`\b(?:include|template) "([^"]+)"`)
)

// variables adds the actions of the file that have to do with variables.
func (s *search) variables(actions []string) {
	var names []string
	for _, text := range actions {
		names = append(names, variable.FindAllString(text, -1)...)
	}
	if len(names) == 0 {
		return
	}
	for _, name := range sortedKeys(s.in.trees) {
		s.walk(s.in.trees[name].Root, nil, func(pipe *parse.PipeNode) bool {
			return len(pipe.Decl) > 0 && slices.ContainsFunc(variable.FindAllString(pipe.String(), -1), func(v string) bool { return slices.Contains(names, v) && v != "$_" })
		})
	}
}

// templates adds the actions of templates that are included.
func (s *search) templates(actions []string) {
	var names []string
	for _, text := range actions {
		for _, found := range included.FindAllStringSubmatch(text, -1) {
			names = append(names, found[1])
		}
	}
	if len(names) == 0 {
		return
	}
	for _, tree := range s.run.engine.defined(names) {
		s.walk(tree.Root, nil, func(*parse.PipeNode) bool { return true })
	}
}

// defined are the templates with names, in the files of the chart.
func (e *Engine) defined(names []string) (all []*parse.Tree) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, file := range e.parsed {
		for _, name := range names {
			if tree := file.trees[name]; tree != nil && !slices.Contains(all, tree) {
				all = append(all, tree)
			}
		}
	}
	slices.SortFunc(all, func(a, b *parse.Tree) int {
		return strings.Compare(a.ParseName+"\x00"+a.Name, b.ParseName+"\x00"+b.Name)
	})
	return all
}

// walk adds the actions of a list that are wanted, each with those around it.
func (s *search) walk(list *parse.ListNode, around []string, wanted func(*parse.PipeNode) bool) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		pipe, lists := partsOf(n)
		if pipe == nil || isTracing(pipe) {
			continue
		}
		all := append(around[:len(around):len(around)], textOf(n, pipe))
		if wanted(pipe) {
			s.add(all...)
		}
		for _, inner := range lists {
			s.walk(inner, all, wanted)
		}
	}
}

// partsOf are the pipeline of an action and the lists of its blocks; nil for text.
func partsOf(n parse.Node) (*parse.PipeNode, []*parse.ListNode) {
	switch n := n.(type) {
	case *parse.ActionNode:
		return n.Pipe, nil
	case *parse.TemplateNode:
		return n.Pipe, nil
	case *parse.IfNode:
		return n.Pipe, []*parse.ListNode{n.List, n.ElseList}
	case *parse.RangeNode:
		return n.Pipe, []*parse.ListNode{n.List, n.ElseList}
	case *parse.WithNode:
		return n.Pipe, []*parse.ListNode{n.List, n.ElseList}
	}
	return nil, nil
}

// textOf is the text of an action.
func textOf(n parse.Node, pipe *parse.PipeNode) string {
	if t, ok := n.(*parse.TemplateNode); ok {
		return fmt.Sprintf("template %q %s", t.Name, pipe)
	}
	return pipe.String()
}

// isTracing reports whether a pipeline is one of the tracer's own actions.
func isTracing(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) == 0 {
		return false
	}
	name, ok := pipe.Cmds[0].Args[0].(*parse.IdentifierNode)
	return ok && slices.Contains([]string{passName, writeName, enterName, leaveName}, name.Ident)
}

// add notes actions, each once.
func (s *search) add(texts ...string) {
	for _, text := range texts {
		if !s.seen[text] && len(s.found) < maxFollowed {
			s.seen[text] = true
			s.found = append(s.found, text)
		}
	}
}
