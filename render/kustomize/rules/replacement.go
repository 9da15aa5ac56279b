package rules

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/utils"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// replaced returns the place of the source of the replacement that wrote a field.
func (l *locator) replaced(file string, f setField) (tree.Position, bool) {
	for _, k := range l.passing(f, file) {
		for i, r := range k.Spec.Replacements {
			if v := r.SourceValue; v != nil && *v != "" && strings.Contains(f.value, *v) && replaces(r.Replacement, f) {
				return k.Position("replacements", i, "sourceValue"), true
			}
		}
		for _, r := range l.replacementsOf(k) {
			if r.Source == nil || f.sources[r.Source.String()] || !replaces(r, f) {
				continue
			}
			if pos, ok := l.replacementSource(r.Source, f.value, f.sources); ok {
				return pos, true
			}
		}
	}
	return tree.Position{}, false
}

// replacementsOf returns the replacements of a kustomization and of the files it names, which hold one or a
// list.
func (l *locator) replacementsOf(k *build.Kustomization) []types.Replacement {
	var out []types.Replacement
	for _, r := range k.Spec.Replacements {
		if r.Path == "" {
			out = append(out, r.Replacement)
			continue
		}
		data, _, err := l.tree.Load(path.Join(k.Dir, filepath.ToSlash(r.Path)), tree.NewTrace())
		if err != nil {
			continue
		}
		var list []types.Replacement
		if sigsyaml.Unmarshal(data, &list) != nil {
			var one types.Replacement
			if sigsyaml.Unmarshal(data, &one) != nil {
				continue
			}
			list = []types.Replacement{one}
		}
		out = append(out, list...)
	}
	return out
}

// replaces reports whether a replacement may write a field: the last name of one of its field paths is the
// field's. The caller compares values.
func replaces(r types.Replacement, f setField) bool {
	for _, target := range r.Targets {
		for _, path := range target.FieldPaths {
			tokens := utils.SmarterPathSplitter(path, ".")
			if tokens[len(tokens)-1] == f.key() || f.steps[len(f.steps)-1].Indexed {
				return true
			}
		}
	}
	return false
}

// replacementSource returns the place of a replacement's source field, if the target's value contains the
// source's value or a part of it. The source may itself be the target of another replacement; sources holds
// those already visited.
func (l *locator) replacementSource(s *types.SourceSelector, value string, sources map[string]bool) (tree.Position, bool) {
	if sources == nil {
		sources = map[string]bool{}
	}
	sources[s.String()] = true
	from := s.FieldPath
	if from == "" {
		from = types.DefaultReplacementFieldPath
	}
	for i, res := range l.resources {
		if res.GetKind() != s.Kind || !strings.Contains(res.GetName(), s.Name) {
			continue
		}
		document := l.document(i)
		id := l.identity(i, document)
		if s.Name != "" && !slices.Contains(id.names, s.Name) {
			continue
		}
		steps := replacementSteps(res.YNode(), from)
		hops, complete := origin.Descend(res.YNode(), steps)
		if !complete || len(hops) == 0 {
			continue
		}
		leaf := hops[len(hops)-1].Value
		if leaf.Kind != yaml.ScalarNode || leaf.Value == "" || !shares(value, leaf.Value, s.Options) {
			continue
		}
		if pos, ok := l.place(leaf); ok {
			return pos, true
		}
		taken := origin.Canonical(hops, steps)
		if pos, ok := l.throughPatches(i, document, hops, taken); ok {
			return pos, true
		}
		f := setField{steps: taken, value: leaf.Value, kind: id.kind, names: id.names, kustomizations: id.kustomizations, sources: sources}
		if pos, ok := l.made(i, document, f); ok {
			return pos, true
		}
		if pos, ok := l.copied(i, tree.Position{}, hops, taken, func(n *yaml.Node) bool { return sameNode(n, leaf) }); ok {
			return pos, true
		}
		if pos, ok := l.replaced(document.Path, f); ok {
			return pos, true
		}
	}
	return l.formerSource(s, from, value)
}

// formerSource returns the place of a replacement's source in the files: the object may have been deleted or
// renamed later. ok is false unless there is exactly one such place.
func (l *locator) formerSource(s *types.SourceSelector, from, value string) (tree.Position, bool) {
	found := map[tree.Position]bool{}
	for i := range l.padder.Ranges {
		r := &l.padder.Ranges[i]
		doc := r.Written()
		if s.Name == "" || origin.ScalarField(doc, "kind") != s.Kind || nameIn(doc) != s.Name {
			continue
		}
		hops, complete := origin.Descend(doc, replacementSteps(doc, from))
		if !complete {
			continue
		}
		if leaf := hops[len(hops)-1].Value; leaf.Kind == yaml.ScalarNode && leaf.Value != "" && shares(value, leaf.Value, s.Options) {
			found[r.Snippet.Position(leaf)] = true
		}
	}
	f := setField{steps: replacementSteps(nil, from)}
	for _, k := range l.closure.Files {
		for i, g := range generatorsOf(k, s.Kind) {
			if g.args.Name != s.Name || !f.isData() {
				continue
			}
			if pos, ok := l.generatedKey(k, g, f, i, func(text string) bool { return text != "" && shares(value, text, s.Options) }); ok {
				found[pos] = true
			}
		}
	}
	for pos := range found {
		return pos, len(found) == 1
	}
	return tree.Position{}, false
}

// replacementSteps returns the steps of a replacement's field path in an object; `[name=web]` is the element
// of a list with that field.
func replacementSteps(node *yaml.Node, path string) []origin.PathStep {
	var out []origin.PathStep
	for _, token := range utils.SmarterPathSplitter(path, ".") {
		step := origin.PathStep{Key: token}
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && node != nil && node.Kind == yaml.SequenceNode {
			step = origin.PathStep{Key: token, Index: i, Indexed: true}
		}
		if key, value, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(token, "["), "]"), "="); ok && node != nil && token[0] == '[' {
			i := slices.IndexFunc(node.Content, func(n *yaml.Node) bool { return origin.ScalarField(origin.Unalias(n), key) == value })
			step = origin.PathStep{Key: strconv.Itoa(i), Index: i, Indexed: i >= 0}
		}
		out = append(out, step)
		next, _ := origin.OneHop(node, []origin.PathStep{step})
		node = next.Value
	}
	return out
}

// shares reports whether a value contains the source's value or, with a delimiter, a part of it.
func shares(value, source string, options *types.FieldOptions) bool {
	if strings.Contains(value, source) {
		return true
	}
	if options == nil || options.Delimiter == "" {
		return false
	}
	for _, part := range strings.Split(source, options.Delimiter) {
		if part != "" && strings.Contains(value, part) {
			return true
		}
	}
	return false
}
