package render

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// generatedField finds what a generator's entry says about a field.
func (l *locator) generatedField(document Position, kind string, f setField) (Position, bool) {
	k := l.padder.kustomization(document.Path)
	if k == nil {
		return Position{}, false
	}
	list, name := make([]types.GeneratorArgs, 0), "configMapGenerator"
	for _, g := range k.spec.ConfigMapGenerator {
		list = append(list, g.GeneratorArgs)
	}
	if kind == "Secret" {
		list, name = list[:0], "secretGenerator"
		for i, g := range k.spec.SecretGenerator {
			if k.position(name, i).Line == document.Line && f.key() == "type" && g.Type == f.value {
				return k.position(name, i, "type"), true
			}
			list = append(list, g.GeneratorArgs)
		}
	}
	for i, g := range list {
		if k.position(name, i).Line != document.Line {
			continue
		}
		if f.under("data", "binaryData") {
			return l.generatedKey(k, g, f.key(), name, i)
		}
		return generatedOption(k, g, f, name, i)
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
