package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// JSON6902 operations may give an object another name. Another build without such
// patches has to give it the name all the same: later patches and references go by
// it, and two objects may only differ in it.

var namePointer = []string{"metadata", "name"}

// newName is the name that an operation sets for its objects; empty when it sets none.
func (o *operation) newName() string {
	if o.op != "replace" && o.op != "add" || o.value.Value == nil || !slices.Equal(o.path, namePointer) {
		return ""
	}
	return o.value.Value.Value
}

// renaming is a strategic merge patch that only does what a JSON6902 patch does to
// names; ok is false when that does nothing to them. Kustomize wants a kind and a
// version in a patch and, as there is a target, does not look at them.
func renaming(text string, patch types.Patch) (renaming types.Patch, ok bool) {
	name := ""
	for _, o := range operationsIn(tree.Normalize([]byte(text)), origin.NewSnippet("", text, 0), patch.Target) {
		if n := o.newName(); n != "" {
			name = n
		}
	}
	if name == "" || patch.Target == nil {
		return types.Patch{}, false
	}
	written, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Any", "metadata": map[string]string{"name": name}})
	return types.Patch{Patch: string(written), Target: patch.Target, Options: &types.PatchArgs{AllowNameChange: true}}, err == nil
}

// previousName is the name that an object had before the operations, or a patch that may, of a
// kustomization gave it the present one, as far as they say; empty when they did not.
func (p *patchesOf) previousName(kind, name string, written func() string) string {
	had := func(target *types.Selector) string {
		if target.Name != "" && !strings.ContainsAny(target.Name, `.*+?()[]{}|\^$`) {
			return target.Name
		}
		return written()
	}
	for _, o := range slices.Backward(p.operations) {
		if o.newName() == name && o.target != nil && anchored(o.target.Kind, kind) {
			return had(o.target)
		}
	}
	for _, m := range slices.Backward(p.merges) {
		if m.renames && nameIn(m.node) == name && m.target != nil && anchored(m.target.Kind, kind) {
			return had(m.target)
		}
	}
	return ""
}

// writtenName is the name in an object's own document.
func (l *locator) writtenName(document tree.Position) string {
	for i := range l.padder.Ranges {
		r := &l.padder.Ranges[i]
		if r.IsAt(document) {
			return nameIn(r.Written())
		}
	}
	return ""
}
