package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// pluginFiles returns the files that plugin configuration names.
func pluginFiles(data []byte) []string {
	var out []string
	for _, c := range tree.SplitChunks(tree.Normalize(data)) {
		decoder := yaml.NewDecoder(strings.NewReader(c.Text))
		var node yaml.Node
		for decoder.Decode(&node) == nil {
			var value any
			if tree.GuardNode(&node, tree.Limits{}.WithDefaults()) == nil && node.Decode(&value) == nil {
				for _, p := range pluginPaths(stringKeys(value)) {
					if !IsInline(p) {
						out = append(out, unique(p, SourcePath(p))...)
					}
				}
			}
			node = yaml.Node{}
		}
	}
	return out
}

// Plugin configuration, in the entries of generators, transformers and validators, is YAML that may itself
// name files and programs, so it is examined like a kustomization.

// inline examines the YAML text of an entry.
func (w *walker) inline(e Entry) {
	w.guardText(e.Value, e.Position)
	if e.Kind == RefPlugin {
		w.plugins(e, []byte(e.Value), func(int) tree.Position { return e.Position() })
	}
}

func (w *walker) guardText(text string, at func() tree.Position) {
	if tree.Harmless([]byte(text), w.tree.Limits) {
		return
	}
	if bad := tree.Guard([]byte(text), w.tree.Limits); bad != nil {
		w.refuse(at(), "%s", bad.Message)
	}
}

// pluginFile examines a file of plugin configuration.
func (w *walker) pluginFile(e Entry) {
	data, real, err := w.tree.Load(e.Target, w.trace)
	if err != nil {
		w.refuseCostly(real, err)
		return
	}
	w.plugins(e, data, func(line int) tree.Position { return tree.Position{Path: real, Line: line} })
}

// plugins examines documents of plugin configuration. Documents that do not decode are skipped: kustomize
// refuses them before it acts on them.
func (w *walker) plugins(e Entry, data []byte, at func(line int) tree.Position) {
	for _, c := range tree.SplitChunks(tree.Normalize(data)) {
		decoder := yaml.NewDecoder(strings.NewReader(c.Text))
		for {
			var node yaml.Node
			if decoder.Decode(&node) != nil {
				break
			}
			if tree.GuardNode(&node, w.tree.Limits) != nil {
				break // refused already when the file was loaded
			}
			var value any
			if node.Decode(&value) != nil {
				continue
			}
			for _, config := range flatten(stringKeys(value)) {
				w.plugin(e, config, at(c.Line+firstLine(&node)))
			}
		}
	}
}

// stringKeys converts all mapping keys to strings: a mapping with `!!binary` keys decodes differently here and
// in kustomize.
func stringKeys(value any) any {
	switch v := value.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, field := range v {
			out[fmt.Sprint(key)] = stringKeys(field)
		}
		return out
	case map[string]any:
		for key, field := range v {
			v[key] = stringKeys(field)
		}
	case []any:
		for i, item := range v {
			v[i] = stringKeys(item)
		}
	}
	return value
}

// flatten returns the objects of a document: kustomize splits lists into their items.
func flatten(value any) []map[string]any {
	m, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	kind, _ := m["kind"].(string)
	items, ok := m["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		return []map[string]any{m}
	}
	var out []map[string]any
	for _, item := range items {
		out = append(out, flatten(item)...)
	}
	return out
}

func firstLine(node *yaml.Node) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		return node.Content[0].Line
	}
	return node.Line
}

// plugin examines the configuration of one generator, transformer or validator.
func (w *walker) plugin(e Entry, config map[string]any, pos tree.Position) {
	apiVersion, _ := config["apiVersion"].(string)
	kind, _ := config["kind"].(string)
	if e.Kind != RefPlugin {
		// A base of a plugin's own kustomization: its objects are configuration.
		e.Kind = RefPlugin
	}
	switch {
	case apiVersion == "" && kind == "":
		return
	case kind == "HelmChartInflationGenerator":
		w.generator(e, config, pos)
		return
	case apiVersion != "builtin":
		w.refuse(pos, "the plugin %s of %s is not run: only kustomize's builtin generators and transformers are", kind, apiVersion)
		return
	}
	if len(e.At) > 1 && e.At[0] == "generators" {
		w.others[fmt.Sprint(e.From.Path, e.At[1:])] = true
	}
	for _, p := range pluginPaths(config) {
		if remoteFile(p) || remoteFile(SourcePath(p)) {
			w.need(render.Artifact{Kind: render.ArtifactFile, URL: p, Position: pos})
			w.refuse(pos, "%s is not fetched: rendering does not reach the network", Quote(p))
		}
		if IsInline(p) {
			w.textual(e.From.Dir, p, func() tree.Position { return pos })
			continue
		}
		for _, file := range unique(p, SourcePath(p)) { // only `files` have keys
			w.escapes(Entry{ref: ref{RefFile, p, e.At}, From: e.From}, w.tree.Resolve(path.Join(e.From.Dir, file)))
			w.out.Entries = append(w.out.Entries, Entry{ref: ref{RefFile, p, e.At}, From: e.From, Target: path.Join(e.From.Dir, file)})
		}
	}
	everyString(config, func(s string) { w.guardText(s, func() tree.Position { return pos }) })
}

func unique(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// pathFields are the fields of builtin plugins that name files. Other fields may have the same names; their
// values are then no paths, which does no harm.
var pathFields = [...]string{"path", "paths", "file", "files", "env", "envs"}

// pluginPaths returns the strings below fields that may name files. It compares field names as encoding/json
// does.
func pluginPaths(value any) []string {
	var out []string
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if isPathField(key) {
				everyString(field, func(s string) { out = append(out, s) })
			} else {
				out = append(out, pluginPaths(field)...)
			}
		}
	case []any:
		for _, item := range v {
			out = append(out, pluginPaths(item)...)
		}
	}
	return out
}

func isPathField(key string) bool {
	for _, f := range pathFields {
		if strings.EqualFold(f, key) {
			return true
		}
	}
	return false
}

func everyString(value any, do func(string)) {
	switch v := value.(type) {
	case string:
		do(v)
	case map[string]any:
		for _, field := range v {
			everyString(field, do)
		}
	case []any:
		for _, item := range v {
			everyString(item, do)
		}
	}
}

// plainFields are the fields allowed in a kustomization that builds plugin configuration: with others it could
// assemble a path that is written in no file.
var plainFields = map[string]bool{"apiversion": true, "kind": true, "metadata": true, "resources": true, "bases": true}

func (w *walker) examinePluginBuild(k *Kustomization) {
	data, err := sigsyaml.YAMLToJSON(k.Data)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &fields) != nil {
		return // kustomize rejects it too
	}
	for name := range fields {
		if !plainFields[strings.ToLower(name)] {
			w.refuse(k.Position(name), "a kustomization of generators, transformers or validators may only have resources, not %s", name)
		}
	}
}

// definition is one type of a `crds:` file, as kustomize reads it.
type definition struct {
	Schema       spec.Schema
	Dependencies []string
}

// crds examines a `crds:` file: kustomize follows the references between its types endlessly when they form a
// cycle.
func (w *walker) crds(e Entry) {
	data, real, err := w.tree.Load(e.Target, w.trace)
	if err != nil {
		w.refuseCostly(real, err)
		return
	}
	var types map[string]definition
	if sigsyaml.Unmarshal(data, &types) != nil {
		return // kustomize reports the error
	}
	steps := map[string]int{}
	for name := range types {
		if err := countReferences(types, name, steps, map[string]bool{}, w.tree.Limits.Nodes); err != nil {
			w.refuse(tree.Position{Path: real}, "%v", err)
			return
		}
	}
}

var errCyclicTypes = errors.New("the types of this crds file refer to each other in a cycle, which kustomize would follow forever")

func countReferences(types map[string]definition, name string, steps map[string]int, active map[string]bool, limit int) error {
	if _, done := steps[name]; done {
		return nil
	}
	if active[name] {
		return errCyclicTypes
	}
	active[name] = true
	total := 1
	for _, property := range types[name].Schema.Properties {
		if property.Ref.GetURL() == nil {
			continue
		}
		to := property.Ref.String()
		if err := countReferences(types, to, steps, active, limit); err != nil {
			return err
		}
		if total += steps[to]; total > limit {
			return fmt.Errorf("the types of this crds file refer to each other too often (limit %d)", limit)
		}
	}
	delete(active, name)
	steps[name] = total
	return nil
}
