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
	// fieldEntries limits the entries of post-renderers tried for a field, releaseEntries those for all fields
	// of a release.
	fieldEntries, releaseEntries = 4, 64
)

// patchedField is a field that a post-renderer changes.
type patchedField struct {
	*traced
	field string
	part  origin.Part
	value any
	found bool
	// same is set when the chart writes this value to the field too.
	same bool
}

// proven returns the place of the entry that decides the field.
func (p *patchedField) proven() (origin.Place, bool) {
	if e := p.entry(); e != nil {
		return p.placeOf(e, e.in), true
	}
	return origin.Place{}, false
}

// entry returns the entry that decides the field, proven by changing it and applying the post-renderers again;
// nil if there is none.
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

// again returns the objects that the post-renderers made of an object: by its document or, if a patch removed
// the annotation with it, by kind and name.
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

// likely returns the entries to try, the most likely first.
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

// rank returns how likely an entry decides the field; 0 when it is not worth a try.
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

// try applies the post-renderers with an entry changed, once for each entry; ok is false if they fail, or
// after releaseEntries tries. The caller holds the lock.
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

// becomes reports whether the field of an object changed in the post-renderers' new output.
func (p *patchedField) becomes(made *release.Object, after []*release.Object) bool {
	if len(after) != 1 {
		return false
	}
	before, had := origin.Field((&render.Object{JSON: made.JSON}).Content(), p.field)
	now, has := origin.Field((&render.Object{JSON: after[0].JSON}).Content(), p.field)
	return had != has || !reflect.DeepEqual(portion(p.field, p.part, before), portion(p.field, p.part, now))
}

// placeOf returns where an entry is written, at a position in its text.
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
	at := p.inPatch(place.Position, e.patch, in)
	if at == place.Position && in.Line > 1 { // the lines of the text are not those of the file
		place.Evidence = origin.Inferred
	}
	place.Position = at
	return place
}
