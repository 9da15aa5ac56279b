package render

import (
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// patchesOf are the patches of a kustomization in the order of their application.
type patchesOf struct {
	operations []operation
	merges     []mergePatch
}

// mergePatch is a document of a strategic merge patch.
type mergePatch struct {
	node    *yaml.Node
	snippet *snippet
	// target selects the objects it is for; without one, kind and name do.
	target *types.Selector
}

// patchesIn reads the patches of a kustomization once.
func (l *locator) patchesIn(k *kustomization) *patchesOf {
	if known, ok := l.patches[k]; ok {
		return known
	}
	if l.patches == nil {
		l.patches = map[*kustomization]*patchesOf{}
	}
	p := &patchesOf{}
	l.patches[k] = p
	for i, patch := range k.spec.PatchesStrategicMerge {
		at := []any{"patchesStrategicMerge", i}
		if text(string(patch)) {
			p.add(string(patch), nil, func(text string, line int) *snippet { return inlineSnippet(k, text, line, at) })
		} else {
			l.addPatchFile(p, k, string(patch), nil)
		}
	}
	for field, list := range [][]types.Patch{k.spec.Patches, k.spec.PatchesJson6902} {
		for i, patch := range list {
			at := []any{[]string{"patches", "patchesJson6902"}[field], i, "patch"}
			if patch.Path != "" {
				l.addPatchFile(p, k, patch.Path, patch.Target)
			} else {
				p.add(patch.Patch, patch.Target, func(text string, line int) *snippet { return inlineSnippet(k, text, line, at) })
			}
		}
	}
	return p
}

func (l *locator) addPatchFile(p *patchesOf, k *kustomization, value string, target *types.Selector) {
	data, real, err := l.renderer.tree.load(path.Join(k.dir, filepath.ToSlash(value)), newTrace())
	if err == nil {
		p.add(string(data), target, func(text string, line int) *snippet { return newSnippet(real, text, line) })
	}
}

// add reads the text of a patch; at places a piece of it that begins after so many
// lines.
func (p *patchesOf) add(written string, target *types.Selector, at func(text string, line int) *snippet) {
	written = normalize([]byte(written))
	if ops := operationsIn(written, at(written, 0), target); ops != nil {
		p.operations = append(p.operations, ops...)
		return
	}
	for _, c := range splitChunks(written) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(c.text), &doc) == nil && len(doc.Content) > 0 && doc.Content[0].Kind == yaml.MappingNode {
			p.merges = append(p.merges, mergePatch{node: doc.Content[0], snippet: at(c.text, c.line), target: target})
		}
	}
}

// names tells whether a document has the kind of an object and, as nearly as names
// survive kustomize, its name.
func names(doc *yaml.Node, kind, name string) bool {
	metadata, ok := field(doc, "metadata", 0)
	return ok && scalarField(doc, "kind") == kind && strings.Contains(name, scalarField(metadata.value, "name"))
}
