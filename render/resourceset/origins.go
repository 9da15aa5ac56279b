package resourceset

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/origin"
)

// Origins implements Source. A field has the place of its template in the ResourceSet, or of the input if the template
// uses exactly one.
func (s *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	parsed, made, problem := s.make(ctx, result.Root)
	if problem != nil {
		return nil, problem
	}
	of := result.Root.Unit
	if of.Origins == nil {
		return nil, fmt.Errorf("the place of %s is not known", result.Root)
	}
	set, err := of.Origins(ctx, of.Parent, of.Index)
	if err != nil {
		return nil, err
	}
	found := make([]*origin.Origin, len(made))
	for i, o := range made {
		l := &located{built: o, ctx: ctx, unit: of, set: set, metadata: parsed.metadata()}
		found[i] = origin.Known(origin.Places{Document: set.Place(o.field, origin.Whole).Position, Find: l.find})
	}
	return found, nil
}

// located finds where an object of a ResourceSet was written.
type located struct {
	built
	ctx  context.Context
	unit *render.Unit
	set  *origin.Origin
	// metadata are the labels and annotations that flux-operator sets.
	metadata flux.Metadata
}

// find returns where a field was written.
func (l *located) find(field string, part origin.Part) origin.Place {
	if l.resource == nil {
		return origin.Place{Position: l.set.Place(l.field, origin.Whole).Position, Why: "it is made by " + l.field + " of the ResourceSet"}
	}
	if by, ok := l.metadata.LostBy(l.content, field); ok {
		return l.set.Place(l.field+"."+by, origin.Whole) // the value must be quoted in the template
	}
	value, _ := origin.Field(l.resource, field)
	template := l.set.Place(l.field+"."+field, part)
	if text, _ := value.(string); strings.Contains(text, "<<") {
		if at, ok := l.ofInput(text); ok {
			if !onlyReference.MatchString(text) {
				at.Also = append(at.Also, origin.Place{Position: template.Position, Evidence: origin.Inferred})
			}
			return at
		}
	}
	return template
}

// reference matches a use of an input in a template, onlyReference a template that is nothing else.
var (
	reference     = regexp.MustCompile(`\b(?:(?:get|index)\s+inputs\s+"([A-Za-z_][A-Za-z0-9_]*)"|inputs((?:\.[A-Za-z_][A-Za-z0-9_]*)*))`)
	onlyReference = regexp.MustCompile(`^<<-?\s*inputs[.A-Za-z0-9_]*\s*-?>>$`)
)

// ofInput returns where the value of an input is written, if a text uses exactly one.
func (l *located) ofInput(text string) (origin.Place, bool) {
	used := reference.FindAllStringSubmatch(text, 2)
	if len(used) != 1 || l.input == nil {
		return origin.Place{}, false
	}
	name := used[0][2]
	if used[0][1] != "" {
		name = "." + used[0][1]
	}
	if name == "" {
		return origin.Place{}, false
	}
	holder, field := l.set, l.input.field
	if field == "" {
		var err error
		if holder, err = l.unit.Origins(l.ctx, l.input.from.Root, l.input.from.Index); err != nil {
			return origin.Place{}, false
		}
		field = l.input.from.Path
	}
	at := holder.Place(field+name, origin.Whole)
	if !at.Found() {
		return origin.Place{}, false
	}
	return origin.Place{Position: at.Position, Evidence: origin.Inferred}, true
}
