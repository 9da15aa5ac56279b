package updates

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// files has examples of each kind, and the state that they need.
//
//go:embed examples/*.yaml state/*.yaml
var files embed.FS

// Update is a manifest before and after a change.
type Update struct {
	Number     uint64
	Base, Head map[string]any
}

// Generator generates updates.
type Generator struct {
	examples []map[string]any
	// values has the values in the examples by the name of their field.
	values map[string][]any
}

// New returns a generator.
func New() (*Generator, error) {
	g := &Generator{values: map[string][]any{}}
	var err error
	if g.examples, err = objects("examples"); err != nil {
		return nil, err
	}
	for _, example := range g.examples {
		g.collect("", example)
	}
	return g, nil
}

// State returns the initial objects of the cluster: namespaces, definitions, classes, accounts, limits.
func State() ([]map[string]any, error) { return objects("state") }

// Complete lists the kinds of which the state has all objects.
var Complete = []string{
	"IngressClass.networking.k8s.io", "PriorityClass.scheduling.k8s.io", "RuntimeClass.node.k8s.io", "ServiceAccount", "StorageClass.storage.k8s.io",
}

// objects returns the objects of a directory.
func objects(dir string) ([]map[string]any, error) {
	names, err := fs.Glob(files, dir+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			o, err := decode(document)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, o)
		}
	}
	return all, nil
}

func decode(document []byte) (map[string]any, error) {
	var o map[string]any
	if err := yaml.Unmarshal(document, &o); err != nil {
		return nil, fmt.Errorf("decode an example: %w", err)
	}
	return integers(o).(map[string]any), nil
}

// integers returns a value with whole numbers as int64, the type that decoding a manifest gives.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			v[key] = integers(field)
		}
	case []any:
		for i, item := range v {
			v[i] = integers(item)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

// collect records the values of fields.
func (g *Generator) collect(field string, value any) {
	if field != "" {
		g.values[field] = append(g.values[field], value)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			g.collect(key, v[key])
		}
	case []any:
		for _, item := range v {
			g.collect("", item)
		}
	}
}

// Update returns the update with a number, for an object with a name.
func (g *Generator) Update(number uint64, name string) Update {
	c := &change{Rand: rand.New(rand.NewPCG(number, 1)), values: g.values}
	base := runtime.DeepCopyJSON(g.examples[c.IntN(len(g.examples))])
	base["metadata"].(map[string]any)["name"] = name
	for range c.IntN(3) {
		c.object(base)
	}
	harmless(base)
	head := runtime.DeepCopyJSON(base)
	for changes := 1 + c.IntN(3); changes > 0 || reflect.DeepEqual(base, head); changes-- {
		c.object(head)
		harmless(head)
	}
	return Update{Number: number, Base: base, Head: head}
}

// harmless makes webhooks and policies match only an API group that does not exist.
func harmless(o map[string]any) {
	if version, _ := o["apiVersion"].(string); !strings.HasPrefix(version, "admissionregistration.k8s.io/") {
		return
	}
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			if groups, _ := v["apiGroups"].([]any); len(groups) > 0 {
				v["apiGroups"] = []any{"none.example.com"}
			}
			for _, field := range v {
				visit(field)
			}
		case []any:
			for _, item := range v {
				visit(item)
			}
		}
	}
	visit(o)
}
