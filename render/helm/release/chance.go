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

// variant is a rendering with other results of some calls of functions.
type variant struct {
	options engine.Options
	calls   []engine.Chance
}

// variants returns a variant with other random results, and one with other contents of the cluster, each only
// if such functions were called.
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

// unknown marks the fields that differ in a variant. If the variant cannot be rendered, it marks all objects
// of the templates with these calls.
func (r *Rendered) unknown(variant *Rendered, err error, calls []engine.Chance) {
	reason := reasonOf(calls)
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

// MakesNothing reports whether the templates, of which there are some, made no object.
func (r *Rendered) MakesNothing() bool {
	template := func(f *engine.File) bool { return !isNotes(f.Name) }
	return len(r.Objects)+len(r.Hooks) == 0 && slices.ContainsFunc(r.Files, template)
}

// Vary marks the fields that differ in a variant, and adds the objects that only the variant has.
func (r *Rendered) Vary(variant *Rendered, reason string) {
	r.MarkDifferences(variant, reason)
	r.addPossible(variant, reason)
}

// MarkDifferences marks the fields that differ in a variant as unknown.
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

// addPossible adds the objects and hooks that only a variant has, as wholly unknown, each once for all
// variants.
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

// place identifies an object or hook by its template file and its index in that file's output.
type place struct {
	// list is 0 for objects and 1 for hooks.
	list   int
	file   string
	number int
}

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.list, other.list), cmp.Compare(p.file, other.file), cmp.Compare(p.number, other.number))
}

// byDocument returns objects and hooks by place, counted in the order of their documents.
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
	_ = json.Unmarshal(o.JSON, &v) // cannot fail: this program encoded it
	return v
}

// reasonOf returns the reason why a result is unknown: the first call.
func reasonOf(chance []engine.Chance) string {
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
