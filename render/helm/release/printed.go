package release

import (
	"errors"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
)

// printed makes the objects of documents as `helm template` prints them.
func printed(documents []*Document) (made []*Object, err error) {
	limits := expansion()
	for _, d := range documents {
		if bad := expands(d.Text, limits); bad != nil {
			return nil, d.problem(bad, true)
		}
		text, err := sigsyaml.YAMLToJSON([]byte(d.Text + "\n")) // each is printed as a line, which may end a block of text
		if err != nil {
			return nil, d.problem(err, false)
		}
		content := (&render.Object{JSON: text}).Content()
		if content == nil {
			if string(text) != "null" {
				return nil, d.problem(errors.New("it is no object"), false)
			}
			continue
		}
		made = append(made, &Object{File: d.File.Name, Document: d, decoded: content})
	}
	return made, nil
}
