package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// JSON6902 operations may rename an object. The build without such patches must rename it too: later patches
// and references use the new name, and two objects may differ only in it.

var namePointer = []string{"metadata", "name"}

// newName returns the name that an operation sets; "" if it sets none.
func (o *operation) newName() string {
	if o.op != "replace" && o.op != "add" || o.value.Value == nil || !slices.Equal(o.path, namePointer) {
		return ""
	}
	return o.value.Value.Value
}

// renaming returns a strategic merge patch that only renames objects as a JSON6902 patch does; ok is false
// when that renames none. Kustomize requires a kind and a version in a patch and ignores them if it has a
// target.
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

// previousName returns the name that an object had before the operations and patches of a kustomization gave
// it the present one; "" if they did not.
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

// writtenName returns the name in an object's own document.
func (l *locator) writtenName(document tree.Position) string {
	for i := range l.padder.Ranges {
		r := &l.padder.Ranges[i]
		if r.IsAt(document) {
			return nameIn(r.Written())
		}
	}
	return ""
}
