package helm

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// patched returns the place of a field that a post-renderer changes: the entry that is proven to decide it,
// else the line that contains its key and value.
func (o *traced) patched(field string, part origin.Part, value any, found bool) (origin.Place, bool) {
	steps := origin.ParsePath(field)
	if len(o.release.Spec.PostRenderers) == 0 || len(steps) == 0 {
		return origin.Place{}, false
	}
	plain := o.plainContent()
	if plain == nil {
		return origin.Place{}, false
	}
	was, added := o.unpatched(field)
	before, had := origin.Field(plain, was)
	had = had && added == ""
	same := found && had && reflect.DeepEqual(portion(field, part, before), portion(field, part, value))
	p := &patchedField{traced: o, field: field, part: part, value: value, found: found, same: same}
	if place, ok := p.proven(); ok || same {
		return place, ok
	}
	if !found && !had {
		return o.lacking(added)
	}
	if place, ok := o.lineOf(steps[len(steps)-1].Key, value); ok {
		return place, true
	}
	return origin.Place{Position: o.written("spec.postRenderers"), Evidence: origin.Inferred}, found
}

// lineOf returns the line of postRenderers that contains a key and a value.
func (o *traced) lineOf(key string, value any) (origin.Place, bool) {
	for i, p := range o.release.Spec.PostRenderers {
		if p.Kustomize == nil {
			continue
		}
		for j, image := range p.Kustomize.Images {
			at := fmt.Sprintf("spec.postRenderers[%d].kustomize.images[%d]", i, j)
			switch text := locate.Text(value); {
			case key != "image":
			case image.NewTag != "" && strings.HasSuffix(text, ":"+image.NewTag):
				return origin.Place{Position: o.written(at + ".newTag"), Evidence: origin.Inferred}, true
			case image.Digest != "" && strings.HasSuffix(text, image.Digest):
				return origin.Place{Position: o.written(at + ".digest"), Evidence: origin.Inferred}, true
			case image.NewName != "" && strings.HasPrefix(text, image.NewName):
				return origin.Place{Position: o.written(at + ".newName"), Evidence: origin.Inferred}, true
			}
		}
		for j, patch := range p.Kustomize.Patches {
			if n := lineWith(strings.Split(patch.Patch, "\n"), key, value); n > 0 {
				at := o.written(fmt.Sprintf("spec.postRenderers[%d].kustomize.patches[%d].patch", i, j))
				return origin.Place{Position: o.inPatch(at, patch.Patch, tree.Position{Line: n}), Evidence: origin.Inferred}, true
			}
		}
	}
	return origin.Place{}, false
}

// lineWith returns the line that contains a key, or one soon after it that ends with the value; 0 if there
// is none.
func lineWith(lines []string, key string, value any) int {
	for n, line := range lines {
		if !strings.Contains(line, key) {
			continue
		}
		for below := n; below < min(n+4, len(lines)); below++ { // `value:` of an operation
			text, scalar := locate.Text(value), locate.IsScalar(value)
			if scalar && text != "" && strings.HasSuffix(strings.TrimRight(lines[below], " '\"}"), text) || !scalar && strings.HasPrefix(strings.TrimLeft(lines[below], " "), "value:") {
				return below + 1
			}
		}
		return n + 1
	}
	return 0
}

// portion returns a part of an image; other values whole.
func portion(field string, part origin.Part, value any) any {
	text, ok := value.(string)
	if !ok || part == origin.Whole || !strings.HasSuffix(field, ".image") {
		return value
	}
	name, version := origin.SplitImage(text)
	if part == origin.Front {
		return name
	}
	return version
}

// inPatch converts a position in the text of a patch at a place to a position in the tree; for a text that is
// neither a block nor quoted it returns at.
func (o *traced) inPatch(at tree.Position, patch string, in tree.Position) tree.Position {
	data, err := o.tree.Read(o.tree.RealOr(at.Path))
	if err != nil {
		return at
	}
	return origin.InScalar(strings.Split(string(data), "\n"), at, patch, in)
}
