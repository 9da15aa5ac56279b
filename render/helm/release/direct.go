package release

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render/origin"
)

// direct makes the objects of documents without kustomize, which most do not need: there are no patches, and
// nothing in them has a meaning for kustomize. plain is false for other documents, and where kustomize might
// report an error.
func (g group) direct() (made []*Object, plain bool, err error) {
	if len(g.release.PostRenderers) > 0 {
		return nil, false, nil
	}
	if g.release.Template {
		made, err = printed(g.documents)
		return made, true, err
	}
	if g.release.Plain {
		made, err = built(g.documents)
		return made, true, err
	}
	limits := expansion()
	known := map[resid.ResId]bool{}
	for _, d := range g.documents {
		if strings.Contains(d.Text, "config.kubernetes.io") {
			return nil, false, nil
		}
		if bad := expands(d.Text, limits); bad != nil {
			return nil, false, d.problem(bad, true)
		}
		nodes, err := (&kio.ByteReader{OmitReaderAnnotations: true, DisableUnwrapping: true, Reader: strings.NewReader(d.Text)}).Read()
		if err != nil {
			return nil, false, d.problem(err, false)
		}
		for _, node := range nodes {
			content, ok := contentOf(node)
			if !ok || !g.release.label(content) {
				return nil, false, nil
			}
			id := identity(content)
			if known[id] || id.Kind == "" || id.Name == "" || id.Version == "" || strings.HasSuffix(id.Kind, "List") {
				return nil, false, nil
			}
			known[id] = true
			made = append(made, &Object{File: d.File.Name, Document: d, decoded: content})
		}
	}
	return made, true, nil
}

// contentOf decodes a node without aliases; ok is false for other nodes, and for values without a JSON form.
func contentOf(node *kyaml.RNode) (content map[string]any, ok bool) {
	n := node.YNode()
	if n == nil || n.Kind != kyaml.MappingNode || hasAnchors(n) || n.Decode(&content) != nil || content == nil {
		return nil, false
	}
	converted, err := origin.FromYAML(content)
	if err != nil {
		return nil, false
	}
	content, ok = converted.(map[string]any)
	return content, ok
}

func hasAnchors(n *kyaml.Node) bool {
	if n.Anchor != "" || n.Kind == kyaml.AliasNode || n.Tag == "!!merge" {
		return true
	}
	for _, inner := range n.Content {
		if hasAnchors(inner) {
			return true
		}
	}
	return false
}

// label adds labels and annotations as kustomize's transformers do; ok is false if these would fail.
func (r *Release) label(content map[string]any) (ok bool) {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return false
	}
	for _, field := range []string{"labels", "annotations"} {
		values, isMap := metadata[field].(map[string]any)
		if metadata[field] != nil && !isMap {
			return false
		}
		for _, value := range values {
			if _, isText := value.(string); !isText {
				return false
			}
		}
	}
	for _, add := range []struct {
		field  string
		values map[string]string
	}{
		{"labels", r.CommonMetadata.Labels}, {"labels", r.Labels}, {"annotations", r.CommonMetadata.Annotations},
	} {
		for key, value := range add.values {
			field(metadata, add.field)[key] = value
		}
	}
	return true
}

// identity returns the identity by which kustomize compares objects.
func identity(content map[string]any) resid.ResId {
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	kind, _ := content["kind"].(string)
	version, _ := content["apiVersion"].(string)
	group, version := resid.ParseGroupVersion(version)
	id := resid.NewResIdWithNamespace(resid.NewGvk(group, version, kind), name, namespace)
	id.Namespace = id.EffectiveNamespace()
	return id
}
