package updates

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// examplesYAML has an example of each kind.
//
//go:embed examples.yaml
var examplesYAML []byte

// definitionYAML defines the kind of the custom resources.
//
//go:embed definition.yaml
var definitionYAML []byte

// Update is a manifest before and after a change.
type Update struct {
	Base, Head map[string]any
}

// Generator generates updates.
type Generator struct {
	examples []map[string]any
	// values are those of the examples, by the name of the field that holds them.
	values map[string][]any
}

// New returns a generator.
func New() (*Generator, error) {
	g := &Generator{values: map[string][]any{}}
	for document := range bytes.SplitSeq(examplesYAML, []byte("\n---\n")) {
		example, err := decode(document)
		if err != nil {
			return nil, err
		}
		g.examples = append(g.examples, example)
		g.collect("", example)
	}
	return g, nil
}

// Definition returns the CustomResourceDefinition that custom resources need.
func Definition() (map[string]any, error) { return decode(definitionYAML) }

func decode(document []byte) (map[string]any, error) {
	var o map[string]any
	if err := yaml.Unmarshal(document, &o); err != nil {
		return nil, fmt.Errorf("decode an example: %w", err)
	}
	return integers(o).(map[string]any), nil
}

// integers returns a value with whole numbers as int64, as manifests are decoded.
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

// collect notes the values of fields.
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

// Namespaces are those of the objects. Ranges and quotas are apart from what they would limit.
var Namespaces = []string{"updates", "updates-limits"}

// Update returns the update of a number, of an object of a name.
func (g *Generator) Update(number uint64, name string) Update {
	c := &change{Rand: rand.New(rand.NewPCG(number, 1)), values: g.values}
	base := runtime.DeepCopyJSON(g.examples[c.IntN(len(g.examples))])
	base["metadata"].(map[string]any)["name"] = name
	for range c.IntN(3) {
		c.object(base)
	}
	head := runtime.DeepCopyJSON(base)
	for changes := 1 + c.IntN(3); changes > 0 || reflect.DeepEqual(base, head); changes-- {
		c.object(head)
	}
	return Update{Base: base, Head: head}
}
