package schemas

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
)

// Origin returns the origin of an object with schemas. found is its origin in the build without them and is
// used for all other fields. A field of a schema is where its file has it, with the evidence of the field
// around the schema. whole returns the origin in a build of the whole files, for fields that are not found
// that way.
func (b *Build) Origin(o Restored, found *origin.Origin, whole func() *origin.Origin) *origin.Origin {
	document := sync.OnceValue(func() *yaml.Node { return parse(o.without) })
	return found.ByField(func(path string) *origin.Origin {
		s, around, rest := b.within(document(), origin.ParsePath(path))
		if s == nil {
			return nil
		}
		at, ok := s.place(rest)
		if under := found.Place(around, origin.Whole); !ok || !under.Found() {
			return whole()
		} else if at.Evidence == origin.Marked {
			at.Evidence = under.Evidence
		}
		return origin.Known(origin.Places{
			Document: found.Document(),
			Find:     func(string, origin.Part) origin.Place { return at },
			History:  &history{found, around},
		})
	})
}

// history is the history of a field of a schema: that of the field around the schema, as no kustomization
// changes the schema.
type history struct {
	*origin.Origin
	around string
}

// Steps implements origin.History.
func (h *history) Steps(_ string, _ origin.Part, at origin.Place) []origin.Step {
	steps := h.Chain(h.around, origin.Whole)
	last := &steps[len(steps)-1]
	last.Position, last.Absent = at.Position, !at.Found() && last.Kind == origin.StepResource
	return steps
}

// RemovalStep implements origin.History.
func (h *history) RemovalStep(_ string, last origin.Step) origin.Step { return last }

// within returns the schema that a field path leads into, nil if it leads into none, the path of the field
// around it, and the rest of the path.
func (b *Build) within(document *yaml.Node, steps []origin.PathStep) (s *left, around string, rest []origin.PathStep) {
	if document == nil {
		return nil, "", nil
	}
	at := document.Content[0]
	for len(steps) > 0 {
		next, used := origin.OneHop(at, steps)
		if used == 0 {
			return nil, "", nil
		}
		if number, ok := strings.CutPrefix(next.Value.Value, b.mark); ok {
			if n, err := strconv.Atoi(number); err == nil && n < len(b.left) {
				return &b.left[n], around, steps[used:]
			}
		}
		if next.Key != nil {
			around = origin.AppendKey(around, next.Key.Value)
		} else {
			around += fmt.Sprintf("[%d]", steps[0].Index)
		}
		at, steps = next.Value, steps[used:]
	}
	return nil, "", nil
}

// document is a document whose schemas were left out.
type document struct {
	// begin is its offset in the file.
	begin int
	// keys returns the keys of the schemas, with their values, and the document's text.
	keys func() ([]origin.Pair, *origin.Snippet)
}

// newDocument returns the document of a schema in a file.
func newDocument(file string, data []byte, s schema) *document {
	return &document{begin: s.begin, keys: sync.OnceValues(func() ([]origin.Pair, *origin.Snippet) {
		text := data[s.begin:s.end]
		parsed := parse(text)
		if parsed == nil {
			return nil, nil
		}
		return keysOf(parsed), origin.NewSnippet(file, string(text), bytes.Count(data[:s.begin], []byte("\n")))
	})}
}

// place returns where a field of the schema is in its file, or the nearest parent of a missing field; ok is
// false if neither is known.
func (s *left) place(steps []origin.PathStep) (place origin.Place, ok bool) {
	keys, snippet := s.document.keys()
	if s.number >= len(keys) {
		return place, false
	}
	hop := keys[s.number]
	hops, complete := origin.Descend(hop.Value, steps)
	if len(hops) > 0 {
		hop = hops[len(hops)-1]
	}
	if complete {
		place.Evidence = origin.Marked
	}
	place.Position, ok = origin.HopPosition(hop, snippet.Placed)
	return place, ok
}
