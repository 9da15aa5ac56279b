package helm

import (
	"reflect"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

const (
	// fieldEntries is how many entries of post-renderers are tried for a field, and releaseEntries for all fields of a release.
	fieldEntries, releaseEntries = 4, 64
)

// patchedField is a field that a post-renderer makes what it is.
type patchedField struct {
	*traced
	field string
	part  origin.Part
	value any
	found bool
	// same is set when the chart writes this value to the field too.
	same bool
}

// proven is where the entry is written that decides the field.
func (p *patchedField) proven() (origin.Place, bool) {
	if e := p.entry(); e != nil {
		return p.placeOf(e, e.in), true
	}
	return origin.Place{}, false
}

// entry is the entry that decides the field, as is seen by changing it and passing the post-renderers again; nil if none does.
func (p *patchedField) entry() *postEntry {
	made := p.tracer.tracer.Objects[p.index]
	if p.found && !locate.IsScalar(p.value) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.likely() {
		if after, ok := p.try(e); ok && p.becomes(made, p.again(made, after)) {
			return e
		}
	}
	return nil
}

// again are what became of an object: what its document became or, if a patch took the mark of that from it, those of its kind
// and name without one.
func (t *tracer) again(made *release.Object, after map[*release.Document][]*release.Object) (all []*release.Object) {
	if made.Document != nil {
		at := slices.IndexFunc(t.documents, func(d *release.Document) bool {
			return d.File.Name == made.Document.File.Name && d.Offset == made.Document.Offset
		})
		if at < 0 {
			return nil
		}
		return after[t.documents[at]]
	}
	kind, name := (&render.Object{JSON: made.JSON}).KindAndName()
	for _, o := range after[nil] {
		if k, n := (&render.Object{JSON: o.JSON}).KindAndName(); k == kind && n == name {
			all = append(all, o)
		}
	}
	return all
}

// likely are the entries to try, the most likely first.
func (p *patchedField) likely() []*postEntry {
	if p.entries == nil {
		p.entries = entriesOf(p.release)
	}
	ranks := map[*postEntry]int{}
	var all []*postEntry
	for _, e := range p.entries {
		if ranks[e] = p.rank(e); ranks[e] > 0 && (!p.same || e.text == locate.Text(p.value)) {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *postEntry) int { return ranks[b] - ranks[a] })
	return all[:min(len(all), fieldEntries)]
}

// rank says how likely it is that an entry decides the field; 0 when it is not worth a try.
func (p *patchedField) rank(e *postEntry) int {
	if e.removes == p.found {
		return 0
	}
	rank := 0
	steps := origin.ParsePath(p.field)
	for i, step := range steps {
		switch {
		case step.Indexed || !strings.EqualFold(step.Key, e.key):
		case i == len(steps)-1:
			rank += 6
		default:
			rank += 3
		}
	}
	if strings.HasSuffix(p.field, e.key) && rank == 0 { // a key with dots
		rank = 6
	}
	switch text := locate.Text(portion(p.field, p.part, p.value)); {
	case e.text == "":
	case text == e.text:
		rank += 8
	case len(e.text) > 2 && strings.Contains(text, e.text), len(text) > 2 && strings.Contains(e.text, text):
		rank += 4
	}
	return rank
}

// try passes the post-renderers with another entry, once for each; ok is false where they refuse that, or there were too
// many. It is called with the lock held.
func (t *tracer) try(e *postEntry) (after map[*release.Document][]*release.Object, ok bool) {
	if after, ok = t.tried[e]; ok {
		return after, after != nil
	}
	if len(t.tried) >= releaseEntries || t.ctx.Err() != nil {
		return nil, false
	}
	other := *t.made
	other.PostRenderers = slices.Clone(t.made.PostRenderers)
	if changed, ok := e.change(other.PostRenderers[e.number]); ok {
		other.PostRenderers[e.number] = changed
		if made, err := other.Applied(t.documents); err == nil {
			after = made
		}
	}
	if t.tried == nil {
		t.tried = map[*postEntry]map[*release.Document][]*release.Object{}
	}
	t.tried[e] = after
	return after, after != nil
}

// becomes reports whether the field is another one in what became of the document of an object.
func (p *patchedField) becomes(made *release.Object, after []*release.Object) bool {
	if len(after) != 1 {
		return false
	}
	before, had := origin.Field((&render.Object{JSON: made.JSON}).Content(), p.field)
	now, has := origin.Field((&render.Object{JSON: after[0].JSON}).Content(), p.field)
	return had != has || !reflect.DeepEqual(portion(p.field, p.part, before), portion(p.field, p.part, now))
}

// placeOf is where an entry is written, at a position in its text.
func (p *patchedField) placeOf(e *postEntry, in tree.Position) origin.Place {
	inferred := origin.Place{Position: p.written(e.field), Evidence: origin.Inferred}
	from, err := p.origins(p.root.Unit.Parent, p.root.Unit.Index)
	if err != nil {
		return inferred
	}
	place := from.Place(e.field, origin.Whole)
	if !place.Found() {
		return inferred
	}
	if in.Line == 0 {
		return place
	}
	at := p.inPatch(place.Position, in)
	if at == place.Position && in.Line > 1 { // the lines of the text are not those of the file
		place.Evidence = origin.Inferred
	}
	place.Position = at
	return place
}
