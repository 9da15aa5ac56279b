package release

import (
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	"sigs.k8s.io/kustomize/kyaml/resid"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// printed returns the objects of documents as `helm template` prints them.
func printed(documents []*Document) (made []*Object, err error) {
	limits := expansion()
	for _, d := range documents {
		if bad := expands(d.Text, limits); bad != nil {
			return nil, d.problem(bad, true)
		}
		text, err := sigsyaml.YAMLToJSON([]byte(d.Text + "\n")) // each is printed with a line end, which may end a block scalar
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

// built returns the objects of documents as Helm's client builds them from the printed text: lists are split.
func built(documents []*Document) (made []*Object, err error) {
	all, err := printed(documents)
	if err != nil {
		return nil, err
	}
	seen := map[resid.ResId]bool{}
	for _, o := range all {
		if o.decoded["kind"] == nil || o.decoded["kind"] == "" {
			return nil, o.Document.at(1, "the output is no object: Object 'Kind' is missing")
		}
		for _, object := range o.items() {
			id, hooks := identity(object.decoded), nested(object.decoded, "metadata", "annotations")
			if _, isHook := hooks[helmrelease.HookAnnotation]; id.Name != "" && !isHook {
				if seen[id] {
					return nil, o.Document.at(1, fmt.Sprintf("the chart has %s %s more than once", id.Kind, id.Name))
				}
				seen[id] = true
			}
			made = append(made, object)
		}
	}
	return made, nil
}

// items returns the objects of a list, or the object itself. Objects of a list have no Document, as their part
// of it is unknown.
func (o *Object) items() (all []*Object) {
	if _, ok := o.decoded["items"]; !ok {
		return []*Object{o}
	}
	for _, item := range tree.ObjectsOf(encode(o.decoded)) {
		if len(item.Items) == 0 {
			return []*Object{o}
		}
		all = append(all, &Object{File: o.File, decoded: (&render.Object{JSON: item.Json}).Content()})
	}
	return all
}
