package appset

import (
	"fmt"
	"regexp"
	"strings"
	templates "text/template/parse"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// source is the source of parameters: a list element, a file, a directory, or a whole generator.
type source struct {
	// kind is "list" for an element of a list.
	kind string
	// field is the field of the generator, or of the element, in the ApplicationSet.
	field string
	// path is the field of the generator with the pattern of files or directories, and prefix the prefix of the names
	// of their path parameters.
	path, prefix string
	// file is the file with the parameters. text is the text of the field, if the parameters are in it. index is the
	// index of their object in either, -1 if it is not in a list.
	file, text string
	index      int
}

// place is a place where something is written: a field of the ApplicationSet, or of a file.
type place struct {
	field string
	// file is empty for the ApplicationSet.
	file string
	// line is the line in the text of the field, from 1; 0 for the whole field. within is that text.
	line   int
	within string
	// key is the field on that line of the text; empty for any.
	key string
	// text is set if it is not known which line of a field's text counts.
	text bool
}

// Origin returns the origin of the Application: fields are written where their parameter is written, or else in the
// template. set is the origin of the ApplicationSet, which is in tree t.
func (g *Generated) Origin(set *origin.Origin, t *tree.Tree) *origin.Origin {
	return origin.New(func() origin.Places {
		return origin.Places{Document: set.Document(), Texts: true, Find: func(field string, _ origin.Part) (at origin.Place) {
			for _, p := range g.places(field) {
				if at = p.in(set, t); at.Found() {
					break
				}
			}
			return at
		}}
	})
}

// in returns a place in the tree, or the nearest known one.
func (p *place) in(set *origin.Origin, t *tree.Tree) origin.Place {
	if p.file != "" {
		at, ok := tree.Position{}, false
		if data, err := t.Read(t.RealOr(p.file)); err == nil {
			at, ok = origin.InFile(p.file, data, p.field)
		}
		if !ok {
			return origin.Place{Position: tree.Position{Path: p.file, Line: 1}}
		}
		return origin.Place{Position: at, Evidence: origin.Inferred}
	}
	at := origin.Place{IsText: true}
	if p.key != "" {
		at = set.Place(origin.InText(p.field, p.key), origin.Whole)
	}
	if at.IsText || !at.Found() {
		at = set.Place(p.field, origin.Whole)
		if data, err := t.Read(t.RealOr(at.Path)); err == nil && at.Found() && p.line > 0 {
			at = at.InScalar(strings.Split(string(data), "\n"), p.within, tree.Position{Line: p.line})
		}
	}
	at.IsText = p.text
	return at
}

// places returns where a field of the Application may be written, the most likely place first: the parameter that sets
// it, if there is exactly one, and the template.
func (g *Generated) places(field string) []place {
	text, in, inText := origin.CutText(field)
	if g.patch != "" {
		if f := g.filling(*g.set.Spec.TemplatePatch, g.patch); f != nil {
			if _, _, ok := fieldIn(g.patch, text); ok {
				return f.places(field, place{field: "spec.templatePatch", text: inText})
			}
		}
	}
	if inText {
		return g.placesInText(text, in)
	}
	text, at := g.template(field)
	if value, ok := origin.Field((&render.Object{JSON: g.Object}).Content(), field); ok && at.line == 0 {
		value := fmt.Sprint(value)
		if f := g.filling(text, value); f != nil {
			return append(f.decisive(value, func(text string) (string, bool) { return text, true }), at)
		}
	}
	return g.filled(text, at)
}

// filled returns where a text of the template at a place may be written, like places.
func (g *Generated) filled(text string, at place) []place {
	var all []place
	if names := parametersIn(text, g.set.Spec.GoTemplate); len(names) == 1 {
		all = g.parameter(names[0])
	}
	return append(all, at)
}

// placesInText returns where a field of a text may be written, like places. Without Go templates, a line of the text is
// that of the template if rendering changes only parameters within lines.
func (g *Generated) placesInText(text, in string) []place {
	raw, at := g.template(text)
	at.text = true
	value, _ := origin.Field((&render.Object{JSON: g.Object}).Content(), text)
	filled, _ := value.(string)
	if f := g.filling(raw, filled); f != nil && at.line == 0 {
		return f.places(in, at)
	}
	if at.line > 0 {
		return []place{at}
	}
	hops, complete := origin.Descend(tree.ParseFile([]byte(filled)), origin.ParsePath(in))
	before, after := strings.Split(raw, "\n"), strings.Split(filled, "\n")
	if !complete || len(hops) == 0 || len(before) != len(after) {
		return []place{at}
	}
	for i := range before {
		if !fills(before[i], after[i]) {
			return []place{at}
		}
	}
	n := hops[len(hops)-1].Value
	at.line, at.within, at.key, at.text = n.Line, raw, in, false
	return g.filled(valueOf(before[n.Line-1], after[n.Line-1], n), at)
}

// fills reports whether a line may be the result of rendering a line of a template.
func fills(template, line string) bool {
	var pattern strings.Builder
	at := 0
	for _, found := range tag.FindAllStringIndex(template, -1) {
		pattern.WriteString(regexp.QuoteMeta(template[at:found[0]]) + ".*")
		at = found[1]
	}
	matches, err := regexp.MatchString("^"+pattern.String()+regexp.QuoteMeta(template[at:])+"$", line)
	return err == nil && matches
}

// valueOf returns the part of a template's line that renders to a value; empty if the template contains the value
// itself, or the beginning of that part is not known.
func valueOf(template, line string, n *yaml.Node) string {
	runes := []rune(line)
	from := len(string(runes[:min(n.Column-1, len(runes))]))
	if from > len(template) || template[:from] != line[:from] {
		return ""
	}
	before, after := template[from:], line[from:]
	end := min(len(n.Value), len(after))
	if after != "" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		end = strings.IndexByte(after[1:], after[0]) + 2
	}
	if strings.HasPrefix(before, after[:end]) {
		return ""
	}
	return before
}

// template returns the template's text for a field, and its place.
func (g *Generated) template(field string) (text string, at place) {
	if text, line, ok := g.inPatch(field); ok {
		return text, place{field: "spec.templatePatch", line: line, within: *g.set.Spec.TemplatePatch}
	}
	if g.group.own != nil {
		if value, ok := origin.Field(g.group.own, field); ok && !isEmpty(value) {
			text, _ = value.(string)
			return text, place{field: g.group.ownField + "." + field}
		}
	}
	value, _ := origin.Field(g.set.Spec.Template, field)
	text, _ = value.(string)
	return text, place{field: "spec.template." + field}
}

// inPatch returns the line of the templatePatch that sets a field, before rendering, and its number, which is 0 if
// rendering changes the number of lines.
func (g *Generated) inPatch(field string) (text string, line int, ok bool) {
	hops, complete := origin.Descend(tree.ParseFile([]byte(g.patch)), origin.ParsePath(field))
	if !complete || len(hops) == 0 {
		return "", 0, false
	}
	raw := *g.set.Spec.TemplatePatch
	lines := strings.Split(raw, "\n")
	if strings.Count(raw, "\n") != strings.Count(g.patch, "\n") {
		return "", 0, true
	}
	line = hops[len(hops)-1].Value.Line
	return lines[line-1], line, true
}

// parameter returns where a parameter may be written.
func (g *Generated) parameter(name string) (all []place) {
	for _, from := range g.params.from {
		at, ok := from.parameter(name)
		if !ok {
			continue
		}
		if from.kind != "list" && strings.HasPrefix(name, "values.") {
			all = append(all, g.behind(at.field)...)
		}
		all = append(all, at)
	}
	return all
}

// behind returns the places of the parameter in one of the values of a generator.
func (g *Generated) behind(field string) []place {
	value, _ := origin.Field(map[string]any{"spec": map[string]any{"generators": g.set.Spec.Generators}}, field)
	text, _ := value.(string)
	names := parametersIn(text, g.set.Spec.GoTemplate)
	if len(names) != 1 || strings.HasPrefix(names[0], "values.") {
		return nil
	}
	return g.parameter(names[0])
}

// parameter returns where a parameter is written if the source has it.
func (s *source) parameter(name string) (at place, ok bool) {
	first, rest, _ := strings.Cut(name, ".")
	if first == "values" && s.kind != "list" {
		return place{field: origin.AppendKey(s.field+".values", rest)}, rest != ""
	}
	own := strings.TrimPrefix(name, s.prefix+".")
	if s.path != "" && (s.prefix == "" || own != name) && (own == "path" || strings.HasPrefix(own, "path.") || strings.HasPrefix(own, "path[")) {
		return place{field: s.field + "." + s.path}, true
	}
	switch {
	case s.file != "":
		prefix := ""
		if s.index >= 0 {
			prefix = fmt.Sprintf("[%d].", s.index)
		}
		return place{file: s.file, field: prefix + name}, true
	case s.kind == "list":
		return place{field: s.field + "." + name}, true
	case s.text != "":
		in, _ := origin.InFile("", []byte(s.text), fmt.Sprintf("[%d].%s", s.index, name))
		return place{field: s.field, line: in.Line, within: s.text}, true
	case s.path != "": // it has no other parameters
		return at, false
	}
	return place{field: s.field}, true
}

var tag = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// parametersIn returns the parameters that are written into a text, each once, without those that only decide a
// condition.
func parametersIn(text string, goTemplate bool) []string {
	var names []string
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if !goTemplate {
		for _, found := range tag.FindAllStringSubmatch(text, -1) {
			add(strings.TrimSpace(found[1]))
		}
		return names
	}
	if !strings.Contains(text, "{{") {
		return nil
	}
	p := templates.New("text")
	p.Mode = templates.SkipFuncCheck
	parsed, err := p.Parse(text, "", "", map[string]*templates.Tree{})
	if err != nil || parsed.Root == nil {
		return nil
	}
	written(parsed.Root, add)
	return names
}

// calledFor returns the parameter that a function gets by its keys, as in `index . "a"`; empty for another call.
func calledFor(c *templates.CommandNode) string {
	function, ok := c.Args[0].(*templates.IdentifierNode)
	if !ok || len(c.Args) < 3 {
		return ""
	}
	all, keys := c.Args[1], c.Args[2:]
	switch function.Ident {
	case "index", "get":
	case "dig": // the argument before the last is a default
		all, keys = c.Args[len(c.Args)-1], c.Args[1:len(c.Args)-2]
	default:
		return ""
	}
	var names []string
	if _, ok := all.(*templates.DotNode); !ok {
		return ""
	}
	for _, k := range keys {
		key, ok := k.(*templates.StringNode)
		if !ok {
			return ""
		}
		names = append(names, key.Text)
	}
	return strings.Join(names, ".")
}

// written calls a function for each parameter that a node of a template writes.
func written(n templates.Node, add func(string)) {
	list := func(l *templates.ListNode) {
		if l != nil {
			written(l, add)
		}
	}
	switch n := n.(type) {
	case *templates.ListNode:
		for _, inner := range n.Nodes {
			written(inner, add)
		}
	case *templates.ActionNode:
		if len(n.Pipe.Decl) == 0 {
			written(n.Pipe, add)
		}
	case *templates.PipeNode:
		for _, c := range n.Cmds {
			add(calledFor(c))
			for _, arg := range c.Args {
				written(arg, add)
			}
		}
	case *templates.FieldNode:
		add(strings.Join(n.Ident, "."))
	case *templates.VariableNode:
		if n.Ident[0] == "$" {
			add(strings.Join(n.Ident[1:], "."))
		}
	case *templates.ChainNode:
		written(n.Node, add)
	case *templates.IfNode:
		list(n.List)
		list(n.ElseList)
	case *templates.WithNode:
		written(n.Pipe, add)
	case *templates.RangeNode:
		written(n.Pipe, add)
	}
}
