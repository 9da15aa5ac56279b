package helm

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Origins implements Source. A field is where the value is written that decides it, as is found
// by changing values and rendering again; else in the template, if that is in the tree, or where
// the chart is named.
func (s *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	if p := s.problem(result.Root); p != nil {
		return nil, p
	}
	in := &installed{Source: s, root: result.Root, chart: s.chartOf(result.Root)}
	t := &tracer{installed: in, ctx: ctx, result: result}
	found := make([]*origin.Origin, len(result.Objects))
	for i := range found {
		o := &traced{tracer: t, index: i}
		found[i] = origin.New(sync.OnceValue(o.places))
	}
	return found, nil
}

// traced is an object of a root that is traced.
type traced struct {
	*tracer
	index int
	// document is the parsed document, once nodeKnown.
	document  *yaml.Node
	nodeKnown bool
}

func (o *traced) places() origin.Places { return origin.Places{Document: o.whole(), Find: o.find} }

// whole is where an object as a whole comes from: the template, if that is in the tree.
func (o *traced) whole() tree.Position {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin()
	if o.rendered != nil && o.isThere(o.rendered[o.index].File) {
		at := tree.Position{Path: o.inTree(o.rendered[o.index].File), Line: 1}
		if d := o.rendered[o.index].Document; d != nil {
			if n := o.node(); n != nil {
				if places := d.Trace(n); len(places) > 0 && places[0].File != "" {
					at = tree.Position{Path: o.inTree(places[0].File), Line: places[0].Line}
				}
			}
		}
		return at
	}
	return o.chartLine()
}

// isThere reports whether a file of a chart is one of the repository: the chart is a directory
// of it, and the file is not of a dependency that was fetched.
func (o *traced) isThere(file string) bool {
	return o.root.Unit.Artifact == nil && o.tree.Resolve(o.inTree(file)).Err == nil
}

// inTree is the path in the tree of a file of a chart that is there.
func (o *traced) inTree(file string) string {
	_, rest, _ := strings.Cut(file, "/")
	return path.Join(o.root.Dir, rest)
}

// find finds where a field comes from.
func (o *traced) find(field string, part origin.Part) origin.Place {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin()
	fallback := origin.Place{Position: o.chartLine(), Why: "it is made by " + o.name()}
	if o.rendered == nil {
		return fallback
	}
	if place, ok := o.added(field); ok {
		return place
	}
	value, found := origin.Field(o.result.Objects[o.index].Content(), field)
	if place, ok := o.patched(field, value, found); ok {
		return place
	}
	c := clue{field: field, text: textOf(value), found: found && isScalar(value)}
	for _, step := range origin.ParsePath(field) {
		if !step.Indexed {
			c.keys = append(c.keys, step.Key)
		}
	}
	if name, version := origin.SplitImage(c.text); strings.HasSuffix(field, ".image") && part != origin.Whole {
		c.text = map[origin.Part]string{origin.Front: name, origin.Back: strings.TrimLeft(version, ":@")}[part]
	}
	template, literal := o.template(field)
	if lines := o.linesOf(template); template.Line >= 1 && template.Line <= len(lines) {
		c.template, c.around = lines[template.Line-1], around(lines, template.Line)
	}
	if c.found {
		if place, ok := o.decided(c, field, template); ok {
			return place
		}
	}
	if template.File != "" && o.isThere(template.File) {
		place := origin.Place{Position: tree.Position{Path: o.inTree(template.File), Line: template.Line}, Evidence: origin.Inferred}
		if literal && found {
			place.Evidence = origin.Marked
		}
		if !found {
			place.Evidence = origin.Nearest
		}
		return place
	}
	if template.File != "" {
		fallback.Why = "it is made by " + o.name() + " " + within(template)
	}
	return fallback
}

// decided finds the value that decides a field.
func (o *traced) decided(c clue, field string, template engine.Place) (origin.Place, bool) {
	if o.rendered[o.index].Document == nil {
		return origin.Place{}, false
	}
	for i, l := range c.candidates(o.all) {
		if i == fieldTries {
			break
		}
		if !o.changes(l, field) {
			continue
		}
		if place, ok := l.written(o.installed); ok {
			return place, true
		}
		why := "it is made by " + o.name()
		if template.File != "" {
			why += " " + within(template)
		}
		if l.layer == ofChart {
			if line, _ := o.defaultLine(l.path); line > 0 {
				why += fmt.Sprintf(" <- values.yaml:%d (default)", line)
			}
		}
		return origin.Place{Position: o.chartLine(), Why: why}, true
	}
	return origin.Place{}, false
}

// template is the part of a template that wrote a field, or what is nearest around it; literal is
// set when it is the text of the template.
func (o *traced) template(field string) (place engine.Place, literal bool) {
	d := o.rendered[o.index].Document
	if d == nil {
		return place, false
	}
	n := o.node()
	if n == nil {
		return place, false
	}
	found := true
	for steps := origin.ParsePath(field); len(steps) > 0; {
		next, used := child(n, steps)
		if next == nil {
			found = false
			break
		}
		n, steps = next, steps[used:]
	}
	for _, p := range d.Trace(n) {
		if p.File != "" {
			return p, p.Literal && found && n.Kind == yaml.ScalarNode
		}
	}
	return place, false
}

// child goes as many steps of a field path as make a key or an index.
func child(n *yaml.Node, steps []origin.PathStep) (*yaml.Node, int) {
	if s := steps[0]; s.Indexed && n.Kind == yaml.SequenceNode {
		_, value := origin.Child(n, s.Index)
		return value, 1
	}
	var keys []string
	for i, s := range steps {
		keys = append(keys, s.Key)
		if _, value := origin.Child(n, strings.Join(keys, ".")); value != nil {
			return value, i + 1
		}
	}
	return nil, 0
}

// linesOf are the lines of a template.
func (o *traced) linesOf(p engine.Place) []string {
	_, file, _ := strings.Cut(p.File, "/")
	data, err := inChart(o.chart.chart.Chart, file)
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\n")
}

// within is a place in a chart, as messages have it.
func within(p engine.Place) string {
	_, file, _ := strings.Cut(p.File, "/")
	return fmt.Sprintf("%s:%d", file, p.Line)
}
