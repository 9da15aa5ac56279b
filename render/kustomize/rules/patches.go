package rules

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/padding"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// patchesOf are the patches of a kustomization in the order of their application.
type patchesOf struct {
	operations []operation
	merges     []mergePatch
}

// mergePatch is a document of a strategic merge patch.
type mergePatch struct {
	node    *yaml.Node
	snippet *origin.Snippet
	// target selects the objects; without one, kind and name do.
	target *types.Selector
	// at is the entry of the kustomization.
	at      []any
	renames bool // it may rename its objects (allowNameChange)
}

// patchesIn reads the patches of a kustomization once.
func (l *locator) patchesIn(k *build.Kustomization) *patchesOf {
	if known, ok := l.patches[k]; ok {
		return known
	}
	if l.patches == nil {
		l.patches = map[*build.Kustomization]*patchesOf{}
	}
	p := &patchesOf{}
	l.patches[k] = p
	for i, patch := range k.Spec.PatchesStrategicMerge {
		at := []any{"patchesStrategicMerge", i}
		if build.IsInline(string(patch)) {
			p.add(string(patch), nil, at, func(text string, line int) *origin.Snippet { return padding.InlineSnippet(k, text, line, at) })
		} else {
			l.addPatchFile(p, k, string(patch), nil, at)
		}
	}
	for field, list := range [][]types.Patch{k.Spec.Patches, k.Spec.PatchesJson6902} {
		for i, patch := range list {
			at, before := []any{[]string{"patches", "patchesJson6902"}[field], i, "patch"}, len(p.merges)
			if patch.Path != "" {
				l.addPatchFile(p, k, patch.Path, patch.Target, at)
			} else {
				p.add(patch.Patch, patch.Target, at, func(text string, line int) *origin.Snippet { return padding.InlineSnippet(k, text, line, at) })
			}
			for j := before; j < len(p.merges); j++ {
				p.merges[j].renames = patch.Options != nil && patch.Options.AllowNameChange
			}
		}
	}
	return p
}

func (l *locator) addPatchFile(p *patchesOf, k *build.Kustomization, value string, target *types.Selector, at []any) {
	data, real, err := l.tree.Load(path.Join(k.Dir, filepath.ToSlash(value)), tree.NewTrace())
	if err == nil {
		p.add(string(data), target, at, func(text string, line int) *origin.Snippet { return origin.NewSnippet(real, text, line) })
	}
}

// add reads the text of the patch at an entry. place returns the snippet of a part of it that begins after a
// number of lines.
func (p *patchesOf) add(written string, target *types.Selector, at []any, place func(text string, line int) *origin.Snippet) {
	written = tree.Normalize([]byte(written))
	if ops := operationsIn(written, place(written, 0), target); ops != nil {
		for i := range ops {
			ops[i].at = at
		}
		p.operations = append(p.operations, ops...)
		return
	}
	for _, c := range tree.SplitChunks(written) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(c.Text), &doc) == nil && len(doc.Content) > 0 && doc.Content[0].Kind == yaml.MappingNode {
			p.merges = append(p.merges, mergePatch{node: doc.Content[0], snippet: place(c.Text, c.Line), target: target, at: at})
		}
	}
}

// identity is what patches and other entries select an object by.
type identity struct {
	resource *resource.Resource
	kind     string
	// names are the object's names, past ones too, the present one first.
	names []string
	// kustomizations are those that the object went through, with the plugin configurations they list, the
	// last applied first.
	kustomizations []*build.Kustomization
}

// identity returns the identity of an object, computed once.
func (l *locator) identity(object int, document tree.Position) identity {
	id, ok := l.ids[object]
	if !ok {
		if l.ids == nil {
			l.ids = map[int]identity{}
		}
		id = l.findIdentity(object, document)
		l.ids[object] = id // the route needs it
		if r := l.routeOf(object, document); r != nil {
			id.kustomizations = r.only(id.kustomizations)
			l.ids[object] = id
		}
	}
	return id
}

// findIdentity follows the name of an object back through prefixes, suffixes and renames.
func (l *locator) findIdentity(object int, document tree.Position) identity {
	res := l.resources[object]
	name := res.GetName()
	id := identity{res, res.GetKind(), []string{name}, l.affecting(document.Path)}
	had := func(n string) {
		if n != name {
			name = n
			id.names = append(id.names, n)
		}
	}
	if l.isGenerated(object) {
		had(origin.ContentHash.ReplaceAllString(name, ""))
	}
	written := func() string { return l.writtenName(document) }
	for _, k := range id.kustomizations {
		had(strings.TrimPrefix(strings.TrimSuffix(name, k.Spec.NameSuffix), k.Spec.NamePrefix))
		if old := l.patchesIn(k).previousName(id.kind, name, written); old != "" {
			had(old)
		}
	}
	return id
}

// isOf reports whether a document has the kind and one of the names of an object.
func (id identity) isOf(doc *yaml.Node) bool {
	metadata, ok := origin.ChildOf(doc, "metadata", 0)
	return ok && origin.ScalarField(doc, "kind") == id.kind && slices.Contains(id.names, origin.ScalarField(metadata.Value, "name"))
}

// only returns the kustomizations that are on the route.
func (r *route) only(all []*build.Kustomization) []*build.Kustomization {
	on := map[string]bool{}
	for _, s := range r.stages {
		on[s.k.Path] = true
		for _, b := range s.builtins {
			on[b.Path] = true
		}
	}
	out := []*build.Kustomization{}
	for _, k := range all {
		if on[k.Path] {
			out = append(out, k)
		}
	}
	return out
}
