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

// content decodes a rendered object as an API server would decode kustomize's output. It converts the nodes
// directly; unusual nodes go through the JSON that kustomize writes.
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

// IsRewritten reports whether a node holds a text that changes, or becomes invalid, when kustomize writes it
// as YAML and reads it again: a folded text gets an empty line where the indentation of its lines changes.
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

// contentViaJSON decodes an object as `kustomize build | kubectl apply` does.
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

// ListError reports that kustomize built an object that its deployer treats as a list: deployers do so for
// every object with items, kustomize only for kinds that end with List.
type ListError struct{ id string }

func (e *ListError) Error() string {
	return e.id + " has items, so that what applies it takes it for a list of them: give them one by one"
}

// Objects converts the objects that kustomize built.
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
