package argocd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// item is an object of a list, or an object that is not in a list.
type item struct {
	*render.Object
	// at is the path of the object in the rendered object; empty for the whole object.
	at string
}

// expanded returns the objects in a list, or the object itself. Lists in lists are not expanded. The error is the
// reason why the controller applies none of them.
func expanded(text []byte) ([]item, error) {
	content := (&render.Object{JSON: text}).Content()
	elements, isList, err := elementsOf(content)
	if err != nil {
		return nil, err
	}
	if !isList {
		return []item{{&render.Object{JSON: text}, ""}}, nil
	}
	var all []item
	for i, inner := range elements {
		all = append(all, item{&render.Object{JSON: tree.Encode(inner)}, fmt.Sprintf("items[%d]", i)})
	}
	return all, nil
}

// elementsOf returns the items of a list. The error is the reason why the controller applies none of them.
func elementsOf(content map[string]any) (elements []map[string]any, isList bool, err error) {
	value, has := content["items"]
	items, isList := value.([]any)
	if !isList {
		_, spec := content["spec"]
		_, status := content["status"]
		return nil, has && value == nil && !spec && !status, nil
	}
	for _, element := range items {
		inner, ok := element.(map[string]any)
		if !ok {
			return nil, true, errors.New("an item of the list is not an object")
		}
		if err := applicable(inner); err != nil {
			return nil, true, err
		}
		elements = append(elements, inner)
	}
	return elements, true, nil
}

// applicable returns why an item of a list makes the whole sync fail.
func applicable(content map[string]any) error {
	kind, _ := content["kind"].(string)
	apiVersion, _ := content["apiVersion"].(string)
	_, isList := content["items"].([]any)
	switch {
	case kind == "":
		return errors.New("Object 'Kind' is missing in an item of the list")
	case apiVersion == "":
		return fmt.Errorf("a %s in the list has no apiVersion: no cluster has that kind, and a sync fails", kind)
	case isList && strings.HasSuffix(kind, "List"):
		return fmt.Errorf("Argo CD applies the %s in the list as an object: no cluster has that kind, and a sync fails", kind)
	}
	return nil
}
