package render

import (
	"encoding/json"
	"path"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"
)

// kustomization is a kustomization file.
type kustomization struct {
	path string // without symbolic links
	dir  string
	spec types.Kustomization
	data []byte
	// err is why kustomize will not accept the file; spec then holds what could
	// be understood.
	err error

	document func() *yaml.Node // parsed when first asked for
}

// refKind says how kustomize uses an entry that names something.
type refKind int

const (
	refResource refKind = iota // a file, or a directory with a kustomization
	refBase                    // a directory with a kustomization
	refPlugin                  // plugin configuration: inline, a file or a directory
	refPatch                   // a patch file
	refInline                  // text inside the kustomization file
	refFile                    // any other file
)

// mayBeDirectory tells whether kustomize takes a directory for such an entry.
func (k refKind) mayBeDirectory() bool { return k == refResource || k == refBase || k == refPlugin }

// ref is an entry of a kustomization that names a file or directory, or holds
// YAML text itself.
type ref struct {
	kind  refKind
	value string
	// at is where the entry is: field names and list indexes.
	at []any
}

// text tells whether a string, where kustomize takes inline YAML or a path, is
// certainly inline.
func text(value string) bool { return strings.ContainsAny(value, "\n{") }

func isKustomizationName(name string) bool {
	for _, known := range konfig.RecognizedKustomizationFileNames() {
		if name == known {
			return true
		}
	}
	return false
}

// parsedKustomization parses a kustomization file, once for each content.
func parsedKustomization(t *tree, name, id string, data []byte) *kustomization {
	if k, ok := t.parsed(name, id); ok {
		return k.(*kustomization)
	}
	return t.keepParsed(name, id, parseKustomization(name, data)).(*kustomization)
}

// kustomizationAt gives the kustomization file that a path leads to, and its path
// without symbolic links, and notes it in a trace as load does. A content that is
// known, going by the name git gives it, is not read again.
func kustomizationAt(t *tree, name string, trace Trace) (k *kustomization, real string, err error) {
	if k, real = knownKustomization(t, name, trace); k != nil {
		return k, real, nil
	}
	data, real, err := t.load(name, trace)
	if err != nil {
		return nil, real, err
	}
	return parsedKustomization(t, name, trace.Reads[real], data), real, nil
}

// knownKustomization is kustomizationAt for a content that was parsed already; nil for
// others.
func knownKustomization(t *tree, name string, trace Trace) (k *kustomization, real string) {
	to := t.resolve(name)
	if !t.isIdentified() || to.err != nil || to.isDir {
		return nil, ""
	}
	id, err := t.identity(to.real)
	if err != nil {
		return nil, ""
	}
	known, ok := t.parsed(name, id)
	if !ok {
		return nil, ""
	}
	trace.passed(to.links)
	trace.Reads[to.real] = id
	return known.(*kustomization), to.real
}

func parseKustomization(name string, data []byte) *kustomization {
	k := &kustomization{path: name, dir: path.Dir(name), data: data}
	k.document = sync.OnceValue(func() *yaml.Node { return parseMapping(data) })
	if k.err = k.spec.Unmarshal(data); k.err != nil {
		// Take what can be understood, so that nothing it names goes unnoticed.
		if j, err := sigsyaml.YAMLToJSON(data); err == nil {
			_ = json.Unmarshal(j, &k.spec)
		}
	}
	return k
}

// refs lists everything a kustomization names, in the order kustomize reads it.
func (k *kustomization) refs() []ref {
	var out []ref
	list := func(kind refKind, field string, values []string) {
		for i, v := range values {
			out = append(out, ref{kind, v, []any{field, i}})
		}
	}
	s := &k.spec
	list(refResource, "resources", s.Resources)
	list(refResource, "bases", s.Bases)
	list(refFile, "configurations", s.Configurations)
	list(refFile, "crds", s.Crds)
	for i, g := range s.ConfigMapGenerator {
		out = append(out, sources("configMapGenerator", i, g.KvPairSources)...)
	}
	for i, g := range s.SecretGenerator {
		out = append(out, sources("secretGenerator", i, g.KvPairSources)...)
	}
	list(refPlugin, "generators", s.Generators)
	list(refBase, "components", s.Components)
	out = append(out, k.patchRefs()...)
	for i, r := range s.Replacements {
		if r.Path != "" {
			out = append(out, ref{refFile, r.Path, []any{"replacements", i, "path"}})
		}
	}
	list(refPlugin, "transformers", s.Transformers)
	list(refPlugin, "validators", s.Validators)
	if p := s.OpenAPI["path"]; p != "" {
		out = append(out, ref{refFile, p, []any{"openapi", "path"}})
	}
	return out
}

func (k *kustomization) patchRefs() []ref {
	var out []ref
	patches := func(field string, list []types.Patch) {
		for i, p := range list {
			if p.Path != "" {
				out = append(out, ref{refPatch, p.Path, []any{field, i, "path"}})
			}
			if p.Patch != "" {
				out = append(out, ref{refInline, p.Patch, []any{field, i, "patch"}})
			}
		}
	}
	for i, p := range k.spec.PatchesStrategicMerge {
		kind := refPatch
		if text(string(p)) {
			kind = refInline
		}
		out = append(out, ref{kind, string(p), []any{"patchesStrategicMerge", i}})
	}
	patches("patches", k.spec.Patches)
	patches("patchesJson6902", k.spec.PatchesJson6902)
	return out
}

// sources lists the files of a ConfigMap or Secret generator.
func sources(field string, i int, s types.KvPairSources) []ref {
	var out []ref
	for j, f := range s.FileSources {
		out = append(out, ref{refFile, sourcePath(f), []any{field, i, "files", j}})
	}
	for j, f := range s.EnvSources {
		out = append(out, ref{refFile, f, []any{field, i, "envs", j}})
	}
	if s.EnvSource != "" {
		out = append(out, ref{refFile, s.EnvSource, []any{field, i, "env"}})
	}
	return out
}

// sourcePath is the path of a generator's `[key=]path`.
func sourcePath(entry string) string {
	if _, after, ok := strings.Cut(entry, "="); ok {
		return after
	}
	return entry
}

// helmFiles lists what the Helm fields of a kustomization name in the tree;
// dirs are directories whose files all belong to a chart.
func (k *kustomization) helmFiles() (files, dirs []string) {
	home := "charts"
	if k.spec.HelmGlobals != nil && k.spec.HelmGlobals.ChartHome != "" {
		home = k.spec.HelmGlobals.ChartHome
	}
	if len(k.spec.HelmCharts)+len(k.spec.HelmChartInflationGenerator) == 0 {
		return nil, nil
	}
	dirs = append(dirs, home)
	for _, c := range k.spec.HelmCharts {
		files = append(append(files, c.ValuesFile), c.AdditionalValuesFiles...)
	}
	for _, c := range k.spec.HelmChartInflationGenerator {
		files = append(files, c.Values)
		if c.ChartHome != "" {
			dirs = append(dirs, c.ChartHome)
		}
	}
	return files, dirs
}

// position finds an entry in the file. When it cannot be found, the nearest
// thing around it is given.
func (k *kustomization) position(at ...any) Position {
	pos := Position{Path: k.path, Line: 1}
	node := k.document()
	for _, step := range at {
		key, value := descend(node, step)
		if value == nil {
			break
		}
		pos = Position{Path: k.path, Line: value.Line, Column: value.Column}
		if value.Kind != yaml.ScalarNode && key != nil {
			pos.Line, pos.Column = key.Line, key.Column
		}
		node = value
	}
	return pos
}

// parseMapping parses a document for its positions; what does not parse is an
// empty mapping.
func parseMapping(data []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	return doc.Content[0]
}

// descend goes one step, a field name or a list index, into a node. Field names
// are compared as encoding/json does, because kustomize decodes through it.
func descend(node *yaml.Node, step any) (key, value *yaml.Node) {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil {
		return nil, nil
	}
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step < len(node.Content) {
			return nil, node.Content[step]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if strings.EqualFold(node.Content[i].Value, step) {
				key, value = node.Content[i], node.Content[i+1]
			}
		}
	}
	return key, value
}
