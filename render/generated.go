package render

import (
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// generatedField finds what generators' entries say about a field, the outermost
// first: one may merge into what another made.
func (l *locator) generatedField(document Position, kind string, f setField) (Position, bool) {
	for _, k := range l.passing(f, document.Path) {
		for i, g := range k.generators(kind) {
			if !slices.Contains(f.names, g.args.Name) {
				continue
			}
			if pos, ok := l.generatedBy(k, g, f, i); ok {
				return pos, true
			}
		}
	}
	return Position{}, false
}

// generator is an entry of a list of generators.
type generator struct {
	field string
	args  types.GeneratorArgs
	kind  string // `type` of a Secret
}

// generators are a kustomization's entries that make objects of a kind.
func (k *kustomization) generators(kind string) []generator {
	var out []generator
	if kind == "Secret" {
		for _, g := range k.spec.SecretGenerator {
			out = append(out, generator{"secretGenerator", g.GeneratorArgs, g.Type})
		}
		return out
	}
	for _, g := range k.spec.ConfigMapGenerator {
		out = append(out, generator{field: "configMapGenerator", args: g.GeneratorArgs})
	}
	return out
}

// generatedBy finds what one entry says about a field.
func (l *locator) generatedBy(k *kustomization, g generator, f setField, i int) (Position, bool) {
	switch {
	case f.under("data", "binaryData"):
		return l.generatedKey(k, g.args, f.key(), g.field, i)
	case len(f.steps) == 1 && f.key() == "type":
		return k.position(g.field, i, "type"), g.kind != "" && g.kind == f.value
	case len(f.steps) == 1 && f.key() == "immutable":
		return generatedImmutable(k, g.args, g.field, i)
	}
	return generatedOption(k, g.args, f, g.field, i)
}

func generatedImmutable(k *kustomization, g types.GeneratorArgs, field string, i int) (Position, bool) {
	if g.Options != nil && g.Options.Immutable {
		return k.position(field, i, "options", "immutable"), true
	}
	o := k.spec.GeneratorOptions
	return k.position("generatorOptions", "immutable"), o != nil && o.Immutable
}

// generatedName is where the generator's entry gives an object its name.
func (l *locator) generatedName(document Position, kind string, f setField) (Position, bool) {
	for _, k := range slices.Backward(l.passing(f, document.Path)) {
		for i, g := range k.generators(kind) {
			if g.args.Name != "" && slices.Contains(f.names, g.args.Name) {
				return k.position(g.field, i, "name"), true
			}
		}
	}
	return Position{}, false
}

func (l *locator) generatedKey(k *kustomization, g types.GeneratorArgs, key, field string, i int) (Position, bool) {
	for j, literal := range g.LiteralSources {
		if written, _, _ := strings.Cut(literal, "="); written == key {
			return k.position(field, i, "literals", j), true
		}
	}
	for _, source := range g.FileSources {
		written, _, ok := strings.Cut(source, "=")
		if !ok {
			written = path.Base(source)
		}
		if to := l.renderer.tree.resolve(path.Join(k.dir, sourcePath(source))); written == key && to.err == nil {
			return Position{Path: to.real, Line: 1, Column: 1}, true
		}
	}
	for _, source := range append(g.EnvSources[:len(g.EnvSources):len(g.EnvSources)], g.EnvSource) {
		if source == "" {
			continue
		}
		data, real, err := l.renderer.tree.load(path.Join(k.dir, source), newTrace())
		if err != nil {
			continue
		}
		for n, line := range strings.Split(string(data), "\n") {
			if written, _, _ := strings.Cut(strings.TrimSpace(line), "="); strings.TrimPrefix(written, "\uFEFF") == key {
				return Position{Path: real, Line: n + 1, Column: 1}, true
			}
		}
	}
	return Position{}, false
}

func generatedOption(k *kustomization, g types.GeneratorArgs, f setField, field string, i int) (Position, bool) {
	for _, option := range []string{"labels", "annotations"} {
		if !f.under(option) {
			continue
		}
		for _, o := range []struct {
			options *types.GeneratorOptions
			at      []any
		}{{g.Options, []any{field, i, "options"}}, {k.spec.GeneratorOptions, []any{"generatorOptions"}}} {
			if o.options == nil {
				continue
			}
			values := map[string]map[string]string{"labels": o.options.Labels, "annotations": o.options.Annotations}[option]
			if v, ok := values[f.key()]; ok && v == f.value {
				return k.position(append(o.at, option, f.key())...), true
			}
		}
	}
	return Position{}, false
}
