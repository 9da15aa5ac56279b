package release

import (
	"encoding/json"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// definitionsOf returns the definitions in a file of crds/, and objects of other kinds if all are
// wanted.
func definitionsOf(name string, data []byte, labels map[string]string, all bool) ([]*Object, error) {
	documents, bad := tree.SplitDocuments(name, data)
	if bad != nil {
		return nil, &Problem{File: name, Line: bad.Line, Message: bad.Message}
	}
	var found []*Object
	for _, d := range documents {
		text, err := sigsyaml.YAMLToJSON(d.Text)
		if err != nil {
			return nil, &Problem{File: name, Line: d.Line + 1, Message: err.Error()}
		}
		content := (&render.Object{JSON: text}).Content()
		version, _ := content["apiVersion"].(string)
		if content == nil {
			continue
		}
		if !all && (content["kind"] != "CustomResourceDefinition" || !strings.HasPrefix(version, "apiextensions.k8s.io/")) {
			continue
		}
		for key, value := range labels {
			field(field(content, "metadata"), "labels")[key] = value
		}
		found = append(found, &Object{JSON: encode(content), File: name})
	}
	return found, nil
}

// encode encodes what was decoded from JSON.
func encode(content map[string]any) []byte {
	data, _ := json.Marshal(content) // it was JSON
	return data
}
