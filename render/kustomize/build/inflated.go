package build

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	sigsyaml "sigs.k8s.io/yaml"
)

// Kustomize does not inflate charts here, as that runs a program. Instead, it reads a component in place of a
// kustomization's charts. Components are applied after the generators, as charts are. Each chart is a
// kustomization of the component, whose objects have kustomize's annotation for objects of charts, so that no
// namespace is set in them.

// inflatedDir is the directory of that component.
const inflatedDir = ".helmCharts"

// objectsFile is the file with the objects of a chart, inflatedFile its kustomization file.
const objectsFile, inflatedFile = "objects.yaml", "kustomization.yaml"

// ObjectsFile returns the path at which kustomize reads the objects of a chart, by its index. The tree has no
// such file.
func (c *Closure) ObjectsFile(index int) string {
	return path.Join(c.Charts[index].From.Dir, inflatedDir, fmt.Sprint(index), objectsFile)
}

// InflatedBy returns the kustomization with the chart whose objects are in a file; nil for files of the tree.
func (c *Closure) InflatedBy(file string) *Kustomization {
	for i, chart := range c.Charts {
		if c.ObjectsFile(i) == file {
			return chart.From
		}
	}
	return nil
}

// isInflated reports whether a component replaces the charts of a directory.
func (c *Closure) isInflated(dir string) bool {
	for _, chart := range c.Charts {
		if chart.From.Dir == dir && len(chart.objects()) > 0 {
			return true
		}
	}
	return false
}

// inComponent reports whether a path is in a component that replaces charts.
func (c *Closure) inComponent(name string) bool {
	before, after, found := strings.Cut("/"+name, "/"+inflatedDir)
	return found && (after == "" || after[0] == '/') && c != nil && c.isInflated(path.Clean(strings.TrimPrefix(before+"/", "/")))
}

// inflatedAt splits a path of a component into directory and file; ok is false for paths that do not exist in
// it.
func (c *Closure) inflatedAt(name string) (dir, file string, ok bool) {
	if _, ok := c.inflated(name); ok {
		return path.Dir(name), path.Base(name), true
	}
	_, ok = c.inflated(path.Join(name, inflatedFile))
	return name, "", ok
}

// inflated returns a file of a component; ok is false for files of the tree.
func (c *Closure) inflated(name string) (data []byte, ok bool) {
	component := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n"
	for i, chart := range c.Charts {
		file := c.ObjectsFile(i)
		switch {
		case len(chart.objects()) == 0:
		case name == file:
			return chart.objects(), true
		case name == path.Join(path.Dir(file), inflatedFile):
			return []byte(marking), true
		case name == path.Join(path.Dir(path.Dir(file)), inflatedFile):
			component += fmt.Sprintf("- %q\n", fmt.Sprint(i))
			ok = true
		}
	}
	return []byte(component), ok
}

// marking is the kustomization of a chart.
const marking = "resources: [" + objectsFile + `]
transformers:
- |-
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata: {name: charts}
  annotations: {` + konfig.HelmGeneratedAnnotation + `: "true"}
  fieldSpecs: [{path: metadata/annotations, create: true}]
`

// withoutCharts returns a kustomization file in which a component replaces the charts.
func (c *Closure) withoutCharts(real string, data []byte) ([]byte, error) {
	if c == nil {
		return data, nil
	}
	removed := map[string]bool{}
	found := false
	for _, chart := range c.Charts {
		if chart.From.Path == real {
			found = true
			if chart.generator != nil {
				removed[fmt.Sprint(chart.generator[0])] = true
			}
		}
	}
	if !found {
		return data, nil
	}
	text, err := sigsyaml.YAMLToJSON(data)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return data, nil // kustomize reports the error
	}
	made := map[string]any{}
	if c.isInflated(path.Dir(real)) {
		made["components"] = []any{inflatedDir}
	} else { // else it may be empty, which kustomize refuses
		made["images"] = []any{map[string]any{"name": "nothing.invalid/nothing", "newTag": "0"}}
	}
	for key, value := range fields {
		switch name := strings.ToLower(key); name {
		case "helmcharts", "helmchartinflationgenerator", "helmglobals":
		case "components", "images", "generators":
			var list []any
			if json.Unmarshal(value, &list) != nil {
				return data, nil
			}
			before, _ := made[name].([]any)
			made[name] = append(before, without(list, name == "generators", removed)...)
		default:
			made[key] = value
		}
	}
	return json.Marshal(made)
}

// without returns a list without the removed generators.
func without(list []any, generators bool, removed map[string]bool) []any {
	var kept []any
	for i, entry := range list {
		if !generators || !removed[fmt.Sprint(i)] {
			kept = append(kept, entry)
		}
	}
	return kept
}
