package deploy

import (
	"cmp"
	"fmt"

	"github.com/preadmit/preadmit/render"
)

// resolveValues finds what the values of a release are taken from.
func (e *expander) resolveValues(n *node) error {
	for i, from := range n.release.Spec.ValuesFrom {
		field := fmt.Sprintf("spec.valuesFrom[%d]", i)
		if from.Kind != "ConfigMap" && from.Kind != "Secret" {
			n.invalid(field, fmt.Sprintf("values from %q: only ConfigMap and Secret are allowed", from.Kind))
			return nil
		}
		object := render.ObjectRef{Kind: from.Kind, Namespace: n.release.namespace(), Name: from.Name}
		found, ok, err := e.lookUp(n.cluster, object)
		if err != nil {
			return err
		}
		reference := render.Reference{Object: object, TargetPath: from.TargetPath, Literal: from.Literal}
		key := cmp.Or(from.ValuesKey, "values.yaml")
		switch {
		case !ok && from.Optional:
			e.remark(n, field, fmt.Sprintf("%s is optional and not in the repository: it is taken to have no values", object))
			continue
		case !ok:
			reference.Unknown = fmt.Sprintf("%s, from which values are taken, is not in the repository", object)
		default:
			data, whole := dataOf(found)
			value, has := data[key]
			switch {
			case has:
				reference.Data, reference.Unknown, reference.Written = value.text, value.unknown, value.written
			case whole != "":
				reference.Unknown = whole
			case from.Optional:
				continue
			default:
				n.invalid(field, fmt.Sprintf("%s, from which values are taken, has no key %s", object, key))
				return nil
			}
		}
		n.root.Unit.Release.References = append(n.root.Unit.Release.References, reference)
	}
	return nil
}
