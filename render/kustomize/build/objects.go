package build

import (
	"fmt"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/resmap"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// content decodes a rendered object as an API server would decode kustomize's
// output. The short way converts the nodes directly; anything unusual goes the
// long way, through the JSON kustomize writes.
func content(node *kyaml.RNode) (map[string]any, error) {
	var m map[string]any
	if !IsRewritten(node.YNode()) {
		if err := node.YNode().Decode(&m); err == nil && m != nil {
			if v, err := origin.FromYAML(m); err == nil {
				return v.(map[string]any), nil
			}
		}
	}
	return contentViaJSON(node)
}

// IsRewritten reports whether a node holds a text that is another one, or none, once it is
// written as YAML and read again, as kustomize does: a folded text gets an empty line where the
// indentation of its lines changes.
func IsRewritten(node *kyaml.Node) bool {
	if node == nil {
		return false
	}
	if node.Kind == kyaml.ScalarNode {
		switch {
		case node.Style&kyaml.FoldedStyle != 0:
			return strings.Contains(strings.TrimSuffix(node.Value, "\n"), "\n")
		case node.Style&(kyaml.DoubleQuotedStyle|kyaml.SingleQuotedStyle) == 0:
			return strings.HasPrefix(node.Value, "\t")
		}
		return false
	}
	return slices.ContainsFunc(node.Content, IsRewritten)
}

// contentViaJSON takes the way of `kustomize build | kubectl apply`.
func contentViaJSON(node *kyaml.RNode) (map[string]any, error) {
	data, err := node.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	return m, nil
}

// ListError says that kustomize built something that is a list to its deployer: they
// take everything with items for one, kustomize only what is called so.
type ListError struct{ id string }

func (e *ListError) Error() string {
	return e.id + " has items, so that what applies it takes it for a list of them: give them one by one"
}

// Objects converts what kustomize built.
func Objects(resources resmap.ResMap) ([]*render.Object, error) {
	out := make([]*render.Object, 0, resources.Size())
	for i, res := range resources.Resources() {
		content, err := content(&res.RNode)
		if err != nil {
			return nil, fmt.Errorf("convert %s to JSON: %w", res.CurId(), err)
		}
		if _, ok := content["items"].([]any); ok {
			return nil, &ListError{res.CurId().String()}
		}
		out = append(out, render.NewObject(tree.Encode(content), i))
	}
	return out, nil
}
