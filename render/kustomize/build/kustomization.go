package build

import (
	"encoding/json"
	"path"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// FieldPosition returns the position of the first key of a name anywhere in the file.
func (k *Kustomization) FieldPosition(name string) tree.Position {
	if key := FindKey(k.Document(), name); key != nil {
		return tree.Position{Path: k.Path, Line: key.Line, Column: key.Column}
	}
	return tree.Position{Path: k.Path, Line: 1}
}

// FindKey returns the first key of a name in or below a node; nil when there is none.
func FindKey(node *yaml.Node, name string) *yaml.Node {
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i]
			}
		}
	}
	for _, child := range node.Content {
		if key := FindKey(child, name); key != nil {
			return key
		}
	}
	return nil
}

// Kustomization is a kustomization file.
type Kustomization struct {
	Path string // without symbolic links
	Dir  string
	Spec types.Kustomization
	Data []byte
	// Err is why kustomize will reject the file; Spec then holds the part that could be decoded.
	Err error

	Document func() *yaml.Node // parsed on first use

	// mounts are the entries that were replaced with paths of artifacts: the artifact's path, by where the
	// entry is, see mounted. Spec and Data have the paths.
	mounts map[string]string
	// absent are the entries that were replaced with stand-ins, by where they are.
	absent map[string]bool
}

// refKind is the way in which kustomize uses an entry that names something.
type refKind int

const (
	RefResource refKind = iota // a file, or a directory with a kustomization
	RefBase                    // a directory with a kustomization
	RefPlugin                  // plugin configuration: inline, a file or a directory
	RefPatch                   // a patch file
	RefInline                  // text inside the kustomization file
	RefFile                    // any other file
)

// mayBeDirectory reports whether kustomize accepts a directory for such an entry.
func (k refKind) mayBeDirectory() bool { return k == RefResource || k == RefBase || k == RefPlugin }

// ref is an entry of a kustomization that names a file or directory, or contains YAML text.
type ref struct {
	Kind  refKind
	Value string
	// At is where the entry is: field names and list indexes.
	At []any
}

// IsInline reports whether a string is certainly inline YAML, where kustomize accepts inline YAML or a path.
func IsInline(value string) bool { return strings.ContainsAny(value, "\n{") }

// parsedKustomization parses a kustomization file, once for each content.
func parsedKustomization(t *tree.Tree, name, id string, data []byte) *Kustomization {
	if k, ok := t.Parsed(name, id); ok {
		return k.(*Kustomization)
	}
	return t.KeepParsed(name, id, parseKustomization(name, data)).(*Kustomization)
}

// kustomizationAt returns the kustomization file that a path leads to, and its path without symbolic links,
// and adds it to a trace as load does. A file whose content was parsed before, by its identity in git, is not
// read again.
func kustomizationAt(t *tree.Tree, name string, trace tree.Trace) (k *Kustomization, real string, err error) {
	if k, real = knownKustomization(t, name, trace); k != nil {
		return k, real, nil
	}
	data, real, err := t.Load(name, trace)
	if err != nil {
		return nil, real, err
	}
	return parsedKustomization(t, name, trace.Reads[real], data), real, nil
}

// knownKustomization is kustomizationAt for content that is already parsed; nil for other content.
func knownKustomization(t *tree.Tree, name string, trace tree.Trace) (k *Kustomization, real string) {
	to := t.Resolve(name)
	if !t.IsIdentified() || to.Err != nil || to.IsDir {
		return nil, ""
	}
	id, err := t.Identity(to.Real)
	if err != nil {
		return nil, ""
	}
	known, ok := t.Parsed(name, id)
	if !ok {
		return nil, ""
	}
	trace.AddLinks(to.Links)
	trace.Reads[to.Real] = id
	return known.(*Kustomization), to.Real
}

func parseKustomization(name string, data []byte) *Kustomization {
	k := &Kustomization{Path: name, Dir: path.Dir(name), Data: data}
	k.Document = sync.OnceValue(func() *yaml.Node { return parseMapping(data) })
	if k.Err = k.Spec.Unmarshal(data); k.Err != nil {
		// Decode as much as possible, so that every name in it is seen.
		if j, err := sigsyaml.YAMLToJSON(data); err == nil {
			_ = json.Unmarshal(j, &k.Spec)
		}
	}
	return k
}

// refs returns everything that a kustomization names, in the order in which kustomize reads it.
func (k *Kustomization) refs() []ref {
	var out []ref
	list := func(kind refKind, field string, values []string) {
		for i, v := range values {
			if v != "" || k.Err == nil { // else the entry is no string, which is the error
				out = append(out, ref{kind, v, []any{field, i}})
			}
		}
	}
	s := &k.Spec
	list(RefResource, "resources", s.Resources)
	list(RefResource, "bases", s.Bases)
	list(RefFile, "configurations", s.Configurations)
	list(RefFile, "crds", s.Crds)
	for i, g := range s.ConfigMapGenerator {
		out = append(out, sources("configMapGenerator", i, g.KvPairSources)...)
	}
	for i, g := range s.SecretGenerator {
		out = append(out, sources("secretGenerator", i, g.KvPairSources)...)
	}
	list(RefPlugin, "generators", s.Generators)
	list(RefBase, "components", s.Components)
	out = append(out, k.patchRefs()...)
	for i, r := range s.Replacements {
		if r.Path != "" {
			out = append(out, ref{RefFile, r.Path, []any{"replacements", i, "path"}})
		}
	}
	list(RefPlugin, "transformers", s.Transformers)
	list(RefPlugin, "validators", s.Validators)
	if p := s.OpenAPI["path"]; p != "" {
		out = append(out, ref{RefFile, p, []any{"openapi", "path"}})
	}
	return out
}

func (k *Kustomization) patchRefs() []ref {
	var out []ref
	patches := func(field string, list []types.Patch) {
		for i, p := range list {
			if p.Path != "" {
				out = append(out, ref{RefPatch, p.Path, []any{field, i, "path"}})
			}
			if p.Patch != "" {
				out = append(out, ref{RefInline, p.Patch, []any{field, i, "patch"}})
			}
		}
	}
	for i, p := range k.Spec.PatchesStrategicMerge {
		kind := RefPatch
		if IsInline(string(p)) {
			kind = RefInline
		}
		out = append(out, ref{kind, string(p), []any{"patchesStrategicMerge", i}})
	}
	patches("patches", k.Spec.Patches)
	patches("patchesJson6902", k.Spec.PatchesJson6902)
	return out
}

// sources returns the files of a ConfigMap or Secret generator.
func sources(field string, i int, s types.KvPairSources) []ref {
	var out []ref
	for j, f := range s.FileSources {
		out = append(out, ref{RefFile, SourcePath(f), []any{field, i, "files", j}})
	}
	for j, f := range s.EnvSources {
		out = append(out, ref{RefFile, f, []any{field, i, "envs", j}})
	}
	if s.EnvSource != "" {
		out = append(out, ref{RefFile, s.EnvSource, []any{field, i, "env"}})
	}
	return out
}

// SourcePath returns the path of a generator's `[key=]path`.
func SourcePath(entry string) string {
	if _, after, ok := strings.Cut(entry, "="); ok {
		return after
	}
	return entry
}

// helmFiles returns the files and directories in the tree that the Helm fields of a kustomization name; all
// files in dirs belong to charts.
func (k *Kustomization) helmFiles() (files, dirs []string) {
	home := "charts"
	if k.Spec.HelmGlobals != nil && k.Spec.HelmGlobals.ChartHome != "" {
		home = k.Spec.HelmGlobals.ChartHome
	}
	if len(k.Spec.HelmCharts)+len(k.Spec.HelmChartInflationGenerator) == 0 {
		return nil, nil
	}
	dirs = append(dirs, home)
	for _, c := range k.Spec.HelmCharts {
		files = append(append(files, c.ValuesFile), c.AdditionalValuesFiles...)
	}
	for _, c := range k.Spec.HelmChartInflationGenerator {
		files = append(files, c.Values)
		if c.ChartHome != "" {
			dirs = append(dirs, c.ChartHome)
		}
	}
	return files, dirs
}

// Position returns the position of an entry in the file, or of the nearest parent that is found.
func (k *Kustomization) Position(at ...any) tree.Position {
	pos := tree.Position{Path: k.Path, Line: 1}
	node := k.Document()
	for _, step := range at {
		key, value := origin.Child(node, step)
		if value == nil {
			break
		}
		written := value
		if scalar := origin.Unalias(value); scalar != nil && scalar.Kind == yaml.ScalarNode {
			written = scalar
		}
		pos = tree.Position{Path: k.Path, Line: written.Line, Column: written.Column}
		if written.Kind != yaml.ScalarNode && key != nil {
			pos.Line, pos.Column = key.Line, key.Column
		}
		node = value
	}
	return pos
}

// parseMapping parses a document for its positions; it returns an empty mapping for an invalid document.
func parseMapping(data []byte) *yaml.Node {
	if doc := tree.ParseFile(data); doc != nil {
		return doc
	}
	return &yaml.Node{Kind: yaml.MappingNode}
}
