package render

import (
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
)

// What kustomize's own transformers and generators write carries no line. It is
// found by rule: the entry of a kustomization that writes such a field, and whose
// value is the field's.

// setField is a scalar of an object to be explained.
type setField struct {
	steps []fieldStep
	value string
	name  string // the object's
}

func (f setField) key() string { return f.steps[len(f.steps)-1].key }

func (f setField) under(parents ...string) bool {
	if len(f.steps) < 2 {
		return false
	}
	for _, p := range parents {
		if f.steps[len(f.steps)-2].key == p {
			return true
		}
	}
	return false
}

// set finds the entry that set a field of an object that was written in a file,
// the outermost kustomization first.
func (l *locator) set(file string, f setField) (Position, bool) {
	for _, k := range l.affecting(file) {
		for _, rule := range []func(*kustomization, setField) (Position, bool){
			setImage, setReplicas, setNamespace, setLabel, setAnnotation, setName,
		} {
			if pos, ok := rule(k, f); ok {
				return pos, true
			}
		}
	}
	return Position{}, false
}

// affecting lists the kustomizations that an object of a file passes through, and
// their components, in the order they were found: an overlay before its base.
func (l *locator) affecting(file string) []*kustomization {
	hit := map[*kustomization]bool{}
	targets := map[string]bool{file: true}
	for _, k := range l.closure.files {
		if k.path == file { // a generated object
			hit[k], targets[k.dir] = true, true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range l.closure.entries {
			if e.target == "" || hit[e.from] || !targets[l.renderer.tree.resolve(e.target).real] {
				continue
			}
			hit[e.from], targets[e.from.dir] = true, true
			changed = true
		}
	}
	l.addComponents(hit)
	var out []*kustomization
	for _, k := range l.closure.files {
		if hit[k] {
			out = append(out, k)
		}
	}
	return out
}

// addComponents adds the components of kustomizations, which change everything
// their user has.
func (l *locator) addComponents(hit map[*kustomization]bool) {
	for _, e := range l.closure.entries {
		if e.kind != refBase || !hit[e.from] {
			continue
		}
		dir := l.renderer.tree.resolve(e.target).real
		for _, k := range l.closure.files {
			if k.dir == dir {
				hit[k] = true
			}
		}
	}
}

func setImage(k *kustomization, f setField) (Position, bool) {
	if f.key() != "image" {
		return Position{}, false
	}
	for i, image := range k.spec.Images {
		name := image.Name
		if image.NewName != "" {
			name = image.NewName
		}
		rest, ok := strings.CutPrefix(f.value, name)
		switch {
		case !ok:
		case image.Digest != "" && strings.HasSuffix(rest, "@"+image.Digest):
			return k.position("images", i, "digest"), true
		case image.NewTag != "" && strings.HasPrefix(rest, ":"+image.NewTag):
			return k.position("images", i, "newTag"), true
		case image.NewName != "" && (rest == "" || rest[0] == ':' || rest[0] == '@'):
			return k.position("images", i, "newName"), true
		}
	}
	return Position{}, false
}

func setReplicas(k *kustomization, f setField) (Position, bool) {
	if f.key() != "replicas" {
		return Position{}, false
	}
	for i, r := range k.spec.Replicas {
		if strings.Contains(f.name, r.Name) && strconv.FormatInt(r.Count, 10) == f.value {
			return k.position("replicas", i, "count"), true
		}
	}
	return Position{}, false
}

func setNamespace(k *kustomization, f setField) (Position, bool) {
	ok := f.key() == "namespace" && k.spec.Namespace == f.value
	return k.position("namespace"), ok
}

func setLabel(k *kustomization, f setField) (Position, bool) {
	if !f.under("labels", "matchLabels", "selector") {
		return Position{}, false
	}
	for i, label := range k.spec.Labels {
		if v, ok := label.Pairs[f.key()]; ok && v == f.value {
			return k.position("labels", i, "pairs", f.key()), true
		}
	}
	v, ok := k.spec.CommonLabels[f.key()]
	return k.position("commonLabels", f.key()), ok && v == f.value
}

func setAnnotation(k *kustomization, f setField) (Position, bool) {
	v, ok := k.spec.CommonAnnotations[f.key()]
	return k.position("commonAnnotations", f.key()), ok && v == f.value && f.under("annotations")
}

func setName(k *kustomization, f setField) (Position, bool) {
	if f.key() != "name" {
		return Position{}, false
	}
	if p := k.spec.NamePrefix; p != "" && strings.HasPrefix(f.value, p) {
		return k.position("namePrefix"), true
	}
	s := k.spec.NameSuffix
	return k.position("nameSuffix"), s != "" && strings.HasSuffix(f.value, s)
}

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

// unmarked finds a scalar that has no line: set by a rule, or lost although it
// was copied, as kustomize does with all annotations of an object.
func (l *locator) unmarked(i int, origin *resource.Origin, document Position, path string) (Position, bool) {
	res, steps := l.resources[i], parsePath(path)
	hops, complete := descendPath(res.YNode(), steps)
	if !complete || len(hops) == 0 || hops[len(hops)-1].value.Kind != yaml.ScalarNode {
		return Position{}, false
	}
	steps = canonical(hops, steps)
	f := setField{steps: steps, value: hops[len(hops)-1].value.Value, name: res.GetName()}
	if origin != nil && origin.ConfiguredIn != "" {
		if pos, ok := l.generatedField(document, res.GetKind(), f); ok {
			return pos, true
		}
	}
	if pos, ok := l.set(document.Path, f); ok {
		return pos, true
	}
	if pos, ok := l.copied(i, document, hops[len(hops)-1].value, steps); ok {
		return pos, true
	}
	return l.replaced(document.Path, f)
}

// copied looks for the same value at the same path in the documents an object
// was made of, the last to be read first; when none of its nodes tells which
// they are, in the document of its own.
func (l *locator) copied(object int, document Position, leaf *yaml.Node, steps []fieldStep) (Position, bool) {
	node := l.resources[object].YNode()
	if reparsed(node) {
		if all := l.before(); all != nil {
			node = all.Resources()[object].YNode()
		}
	}
	votes := map[*padRange]int{}
	l.vote(node, votes)
	for i := len(l.padder.ranges) - 1; i >= 0; i-- {
		r := &l.padder.ranges[i]
		if votes[r] == 0 && (len(votes) > 0 || r.snippet.path != document.Path || r.top() != document) {
			continue
		}
		var doc yaml.Node
		if yaml.NewDecoder(strings.NewReader(r.text)).Decode(&doc) != nil || len(doc.Content) == 0 {
			continue
		}
		hops, complete := descendPath(doc.Content[0], steps)
		if complete && sameNode(hops[len(hops)-1].value, leaf) {
			return r.snippet.position(hops[len(hops)-1].value), true
		}
	}
	return Position{}, false
}
