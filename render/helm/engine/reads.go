package engine

import (
	"bytes"
	"slices"
	"strings"
	"text/template/parse"
)

// Action returns the action at a place, and those that begin the blocks around it, the innermost first. own is
// nil for text.
func (f *File) Action(p Place) (own *Action, around []*Action) {
	if f.run == nil || p.Node < 0 {
		return nil, nil
	}
	n := f.run.node(p.Node)
	if n.pipe != nil {
		own = f.run.action(n.file, actionKey{pipe: n.pipe})
	}
	for n.parent >= 0 {
		if n = f.run.node(n.parent); n.pipe != nil {
			around = append(around, f.run.action(n.file, actionKey{pipe: n.pipe}))
		}
	}
	return own, around
}

// action returns the action of a pipeline in a file.
func (r *run) action(in *parsedFile, key actionKey) *Action {
	if in.name != "" {
		return r.engine.actions.get(key)
	}
	if r.actions == nil {
		r.actions = newActions(r.engine.actions.numbers)
	}
	return r.actions.get(key)
}

// Beside returns the actions around texts that write a key, in the file of a place, and those that follow such
// a text: the actions that decide whether the key exists are among them.
func (f *File) Beside(p Place, key string) []*Action {
	if f.run == nil || p.Node < 0 {
		return nil
	}
	s := newSearch(f.run, f.run.node(p.Node).file)
	for _, name := range sortedKeys(s.in.trees) {
		s.beside(s.in.trees[name].Root, nil, []byte(key+":"))
	}
	return s.found
}

// beside adds the actions around texts that contain a key, and those that follow such a text.
func (s *search) beside(list *parse.ListNode, around []*Action, key []byte) {
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
			s.add(s.action(n, pipe))
		}
		after = false
		for _, inner := range lists {
			s.beside(inner, append(around[:len(around):len(around)], s.action(n, pipe)), key)
		}
	}
}

// maxFollowed limits how many actions Follow returns.
const maxFollowed = 2_000

// Follow returns the actions that other actions at places depend on through variables and included templates:
// those that declare or assign a variable in a file of these places, those of the templates, and those around
// them.
func (f *File) Follow(places []Place, others []*Action) (found []*Action) {
	if f.run == nil {
		return nil
	}
	looked, have, followed := map[*parsedFile]bool{}, numberSet{}, []*Action{}
	for _, p := range places {
		if p.Node < 0 {
			continue
		}
		if in := f.run.node(p.Node).file; !looked[in] {
			looked[in] = true
			followed = f.run.follows(in, others, followed[:0])
			for _, a := range followed {
				if have.add(a.number) {
					found = append(found, a)
				}
			}
		}
	}
	return found
}

// follows appends the actions that others depend on, with the variables of a file, to the empty list found.
func (r *run) follows(in *parsedFile, others, found []*Action) []*Action {
	s := newSearch(r, in)
	s.found = found
	for _, a := range others {
		s.seen.add(a.number)
	}
	for next := others; len(next) > 0 && len(s.found) < maxFollowed; {
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
	found []*Action
	// seen are the numbers of found actions, and named those of variables whose actions were all found.
	seen, named numberSet
	// included are the templates whose actions were all found.
	included map[string]bool
}

// numberSet is a set of small numbers.
type numberSet []bool

// add adds a number and reports whether it is new.
func (s *numberSet) add(number int) bool {
	if number >= len(*s) {
		*s = append(*s, make([]bool, number+1-len(*s))...)
	}
	was := (*s)[number]
	(*s)[number] = true
	return !was
}

func (s numberSet) has(number int) bool { return number < len(s) && s[number] }

func newSearch(r *run, in *parsedFile) *search {
	return &search{run: r, in: in, included: map[string]bool{}}
}

// variables adds the actions of the file that declare or assign the variables of other actions.
func (s *search) variables(of []*Action) {
	var names numberSet
	for _, a := range of {
		for _, v := range a.variables {
			if s.named.add(v) {
				names.add(v)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	for _, name := range sortedKeys(s.in.trees) {
		s.walk(s.in.trees[name].Root, nil, func(a *Action) bool {
			return a.declares && slices.ContainsFunc(a.variables, names.has)
		})
	}
}

// templates adds the actions of included templates.
func (s *search) templates(of []*Action) {
	for _, a := range of {
		for _, name := range a.includes {
			if !s.included[name] {
				s.included[name] = true
				s.add(s.run.engine.actionsIn(name)...)
			}
		}
	}
}

// actionsIn returns the actions of the templates with a name in the files of the chart. They are cached.
func (e *Engine) actionsIn(name string) []*Action {
	e.mu.RLock()
	files, known := len(e.parsed), e.named[name]
	e.mu.RUnlock()
	if known.files == files {
		return known.actions
	}
	s := newSearch(&run{engine: e}, nil)
	for _, d := range e.defined(name) {
		s.in = d.in
		s.walk(d.tree.Root, nil, func(*Action) bool { return true })
	}
	e.mu.Lock()
	e.named[name] = namedActions{files, s.found}
	e.mu.Unlock()
	return s.found
}

// namedActions are the actions of the templates with a name, and the number of files that were parsed then.
type namedActions struct {
	files   int
	actions []*Action
}

// definition is a template and its file.
type definition struct {
	in   *parsedFile
	tree *parse.Tree
}

// defined returns the templates with a name in the files of the chart. All are indexed by name once.
func (e *Engine) defined(name string) []definition {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.definitions.files != len(e.parsed) {
		e.definitions = definitions{len(e.parsed), map[string][]definition{}}
		for _, file := range e.parsed {
			for name, tree := range file.trees {
				e.definitions.of[name] = append(e.definitions.of[name], definition{file, tree})
			}
		}
		for _, all := range e.definitions.of {
			slices.SortFunc(all, func(a, b definition) int { return strings.Compare(a.tree.ParseName, b.tree.ParseName) })
		}
	}
	return e.definitions.of[name]
}

// definitions are the templates by name, and the number of files that were parsed then.
type definitions struct {
	files int
	of    map[string][]definition
}

// walk adds the wanted actions of a list, each with those around it.
func (s *search) walk(list *parse.ListNode, around []*Action, wanted func(*Action) bool) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		pipe, lists := partsOf(n)
		if pipe == nil || isTracing(pipe) {
			continue
		}
		a := s.action(n, pipe)
		if wanted(a) {
			s.add(around...)
			s.add(a)
		}
		for _, inner := range lists {
			s.walk(inner, append(around[:len(around):len(around)], a), wanted)
		}
	}
}

// partsOf returns the pipeline of an action and the lists of its blocks; nil for text.
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

// action returns the action of a node.
func (s *search) action(n parse.Node, pipe *parse.PipeNode) *Action {
	key := actionKey{pipe: pipe}
	if t, ok := n.(*parse.TemplateNode); ok {
		key.template = t.Name
	}
	return s.run.action(s.in, key)
}

// isTracing reports whether a pipeline is one of the tracer's own actions.
func isTracing(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) == 0 {
		return false
	}
	name, ok := pipe.Cmds[0].Args[0].(*parse.IdentifierNode)
	return ok && slices.Contains([]string{passName, writeName, enterName, leaveName, kubeVersionName}, name.Ident)
}

// add adds actions, each once.
func (s *search) add(all ...*Action) {
	for _, a := range all {
		if len(s.found) < maxFollowed && s.seen.add(a.number) {
			s.found = append(s.found, a)
		}
	}
}
