package release

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
)

// variant is another outcome of some calls of functions.
type variant struct {
	options engine.Options
	calls   []engine.Chance
}

// variants returns an outcome that differs by chance, if there is any, and one by what the cluster
// may hold.
func variants(opts engine.Options, chance []engine.Chance) []variant {
	random, lookups := variant{options: opts}, variant{options: opts}
	random.options.Variant = opts.Variant + 1
	lookups.options.Found = true
	for _, c := range chance {
		if c.Function == engine.Lookup {
			lookups.calls = append(lookups.calls, c)
		} else {
			random.calls = append(random.calls, c)
		}
	}
	return slices.DeleteFunc([]variant{random, lookups}, func(v variant) bool { return len(v.calls) == 0 })
}

// unknown marks the fields that are others in a variant. Where it cannot be rendered, those are
// all of the objects in whose templates a call was made.
func (r *Rendered) unknown(variant *Rendered, err error, calls []engine.Chance) {
	reason := because(calls)
	if err == nil {
		r.Vary(variant, reason)
		return
	}
	for _, o := range slices.Concat(r.Objects, r.Hooks) {
		if slices.ContainsFunc(calls, func(c engine.Chance) bool { return c.File == o.File }) {
			o.Unknown = []render.Unknown{{Path: []string{}, Reason: reason}}
		}
	}
}

// MarkAll marks all objects but definitions of crds/ as unknown.
func (r *Rendered) MarkAll(reason string) {
	for _, o := range slices.Concat(r.Objects, r.Hooks) {
		o.Unknown = []render.Unknown{{Path: []string{}, Reason: reason}}
	}
}

// MakesNothing reports whether templates were executed that made no object.
func (r *Rendered) MakesNothing() bool {
	template := func(f *engine.File) bool { return !isNotes(f.Name) }
	return len(r.Objects)+len(r.Hooks) == 0 && slices.ContainsFunc(r.Files, template)
}

// Vary marks what is otherwise in another outcome, and adds the objects that only that one has.
func (r *Rendered) Vary(variant *Rendered, reason string) {
	r.MarkDifferences(variant, reason)
	r.addPossible(variant, reason)
}

// MarkDifferences marks the fields as unknown that are others in another outcome.
func (r *Rendered) MarkDifferences(variant *Rendered, reason string) {
	counterparts := variant.byDocument()
	for i, object := range r.byDocument() {
		if other, ok := counterparts[i]; ok {
			for _, u := range render.Differences(object.content(), other.content(), reason) {
				if !slices.ContainsFunc(object.Unknown, func(known render.Unknown) bool { return slices.Equal(known.Path, u.Path) }) {
					object.Unknown = append(object.Unknown, u)
				}
			}
		} else {
			object.Unknown = []render.Unknown{{Path: []string{}, Reason: reason}}
		}
	}
}

// addPossible adds the objects and hooks that only another outcome has, unknown as a whole, each
// once for all outcomes.
func (r *Rendered) addPossible(variant *Rendered, reason string) {
	has, counterparts := r.byDocument(), variant.byDocument()
	if r.possible == nil {
		r.possible = map[place]bool{}
	}
	for _, at := range slices.SortedFunc(maps.Keys(counterparts), place.compare) {
		if has[at] == nil && !r.possible[at] {
			r.possible[at] = true
			o := *counterparts[at]
			o.Unknown = []render.Unknown{{Path: []string{}, Reason: reason}}
			r.Possible = append(r.Possible, &o)
		}
	}
}

// place is where an object or a hook comes from: the document of a template, counted within it.
type place struct {
	// list is 0 for objects and 1 for hooks.
	list   int
	file   string
	number int
}

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.list, other.list), cmp.Compare(p.file, other.file), cmp.Compare(p.number, other.number))
}

// byDocument names objects and hooks by their documents in the output, in whose order they are.
func (r *Rendered) byDocument() map[place]*Object {
	named := map[place]*Object{}
	for i, objects := range [][]*Object{r.Objects, r.Hooks} {
		sorted, counts := slices.Clone(objects), map[string]int{}
		slices.SortStableFunc(sorted, func(a, b *Object) int { return a.offset() - b.offset() })
		for _, o := range sorted {
			named[place{i, o.File, counts[o.File]}] = o
			counts[o.File]++
		}
	}
	return named
}

func (o *Object) offset() int {
	if o.Document == nil {
		return -1
	}
	return o.Document.Offset
}

func (o *Object) content() any {
	var v any
	_ = json.Unmarshal(o.JSON, &v) // it was encoded here
	return v
}

// because says which functions made a result one of chance.
func because(chance []engine.Chance) string {
	first := chance[0]
	where := ""
	if first.At.File != "" {
		where = fmt.Sprintf(" at %s:%d", first.At.File, first.At.Line)
	}
	switch first.Function {
	case engine.Lookup:
		return "the chart looks it up in the cluster" + where
	case engine.LookupPart:
		return "the chart looks it up in the cluster, where a part of it is not known," + where
	}
	return fmt.Sprintf("the chart makes it with %s%s, with another result each time", first.Function, where)
}
