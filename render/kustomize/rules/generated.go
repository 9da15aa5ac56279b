package rules

import (
	"encoding/base64"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
	"sigs.k8s.io/kustomize/api/types"
)

// generatedField returns the place in a generator's entry that sets a field. The outermost kustomization comes
// first, as its generators may merge into the objects of others.
func (l *locator) generatedField(document tree.Position, kind string, f setField) (tree.Position, bool) {
	for _, k := range l.passing(f, document.Path) {
		for i, g := range generatorsOf(k, kind) {
			if !slices.Contains(f.names, g.args.Name) {
				continue
			}
			pos, ok := tree.Position{}, false
			if f.isData() {
				pos, ok = l.generatedKey(k, g, f, i, f.comesFrom)
			} else {
				pos, ok = l.generatedBy(k, g, f, i)
			}
			if ok {
				return pos, true
			}
		}
	}
	return tree.Position{}, false
}

// generator is an entry of a list of generators.
type generator struct {
	field string
	args  types.GeneratorArgs
	kind  string // `type` of a Secret
}

// generatorsOf returns the generators of a kustomization that make objects of a kind.
func generatorsOf(k *build.Kustomization, kind string) []generator {
	var out []generator
	switch kind {
	case "Secret":
		for _, g := range k.Spec.SecretGenerator {
			out = append(out, generator{"secretGenerator", g.GeneratorArgs, g.Type})
		}
	case "ConfigMap":
		for _, g := range k.Spec.ConfigMapGenerator {
			out = append(out, generator{field: "configMapGenerator", args: g.GeneratorArgs})
		}
	}
	return out
}

func (f setField) isData() bool { return f.under("data", "binaryData") }

// generatedBy returns the place in one generator's entry that sets a field. For data it returns the place of
// the key, whatever the value is, because patches and replacements may change it.
func (l *locator) generatedBy(k *build.Kustomization, g generator, f setField, i int) (tree.Position, bool) {
	switch {
	case f.isData():
		return l.generatedKey(k, g, f, i, func(string) bool { return true })
	case len(f.steps) == 1 && f.key() == "type":
		return k.Position(g.field, i, "type"), g.kind != "" && g.kind == f.value
	case len(f.steps) == 1 && f.key() == "immutable":
		return generatedImmutable(k, g.args, g.field, i)
	}
	return generatedOption(k, g.args, f, g.field, i)
}

func generatedImmutable(k *build.Kustomization, g types.GeneratorArgs, field string, i int) (tree.Position, bool) {
	if g.Options != nil && g.Options.Immutable {
		return k.Position(field, i, "options", "immutable"), true
	}
	o := k.Spec.GeneratorOptions
	return k.Position("generatorOptions", "immutable"), o != nil && o.Immutable
}

// generatedName returns the place of the name in the generator's entry of an object.
func (l *locator) generatedName(document tree.Position, kind string, f setField) (tree.Position, bool) {
	for _, k := range slices.Backward(l.passing(f, document.Path)) {
		for i, g := range generatorsOf(k, kind) {
			if g.args.Name != "" && slices.Contains(f.names, g.args.Name) {
				return k.Position(g.field, i, "name"), true
			}
		}
	}
	return tree.Position{}, false
}

// generatedKey returns the place from which a generator reads the value of a data key, if matches accepts the
// value there.
func (l *locator) generatedKey(k *build.Kustomization, g generator, f setField, i int, matches func(string) bool) (tree.Position, bool) {
	for j, literal := range g.args.LiteralSources {
		if written, value, _ := strings.Cut(literal, "="); written == f.key() && matches(strings.Trim(value, `"'`)) {
			return k.Position(g.field, i, "literals", j), true
		}
	}
	for _, source := range g.args.FileSources {
		written, _, ok := strings.Cut(source, "=")
		if !ok {
			written = path.Base(source)
		}
		if written != f.key() {
			continue
		}
		data, real, err := l.tree.Load(path.Join(k.Dir, build.SourcePath(source)), tree.NewTrace())
		if err == nil && matches(string(data)) {
			return tree.Position{Path: real, Line: 1, Column: 1}, true
		}
	}
	for _, source := range append(slices.Clone(g.args.EnvSources), g.args.EnvSource) {
		if source == "" {
			continue
		}
		if pos, ok := l.generatedLine(path.Join(k.Dir, source), f.key(), matches); ok {
			return pos, true
		}
	}
	return tree.Position{}, false
}

// generatedLine returns the place of a key in a file of `key=value` lines.
func (l *locator) generatedLine(file, key string, matches func(string) bool) (tree.Position, bool) {
	data, real, err := l.tree.Load(file, tree.NewTrace())
	if err != nil {
		return tree.Position{}, false
	}
	for n, line := range strings.Split(string(data), "\n") {
		written, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(line, " \t"), "\uFEFF"), "=")
		if strings.TrimSpace(written) == key && matches(strings.TrimSuffix(value, "\r")) {
			return tree.Position{Path: real, Line: n + 1, Column: 1}, true
		}
	}
	return tree.Position{}, false
}

// comesFrom reports whether the field's value may come from a text in a generator's source: unchanged or
// base64-encoded, perhaps with variables substituted later.
func (f setField) comesFrom(written string) bool {
	values := []string{f.value}
	if data, err := base64.StdEncoding.DecodeString(f.value); err == nil {
		values = append(values, string(data))
	}
	return slices.ContainsFunc(values, func(value string) bool { return substituted(written, value) })
}

var variables = regexp.MustCompile(`\$\([A-Za-z0-9_.-]+\)`) // as in $(NAME)

// substituted reports whether a text equals a value, or becomes it when the variables in it are replaced.
func substituted(text, value string) bool {
	if text == value {
		return true
	}
	parts := variables.Split(text, -1)
	if len(parts) == 1 || !strings.HasPrefix(value, parts[0]) {
		return false
	}
	for _, part := range parts {
		at := strings.Index(value, part)
		if at < 0 {
			return false
		}
		value = value[at+len(part):]
	}
	return value == "" || parts[len(parts)-1] == ""
}

func generatedOption(k *build.Kustomization, g types.GeneratorArgs, f setField, field string, i int) (tree.Position, bool) {
	for _, option := range []string{"labels", "annotations"} {
		if !f.under(option) {
			continue
		}
		for _, o := range []struct {
			options *types.GeneratorOptions
			at      []any
		}{{g.Options, []any{field, i, "options"}}, {k.Spec.GeneratorOptions, []any{"generatorOptions"}}} {
			if o.options == nil {
				continue
			}
			values := map[string]map[string]string{"labels": o.options.Labels, "annotations": o.options.Annotations}[option]
			if v, ok := values[f.key()]; ok && v == f.value {
				return k.Position(append(o.at, option, f.key())...), true
			}
		}
	}
	return tree.Position{}, false
}
