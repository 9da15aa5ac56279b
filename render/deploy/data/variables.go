package data

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// OneLine returns a value as kustomize-controller substitutes it: without newlines.
func OneLine(value string) string { return strings.ReplaceAll(value, "\n", "") }

// Add adds the data of a ConfigMap or Secret that a root renders to variables. raw is set if the root was rendered
// without variables, since these depend on the object: which value an expression in it has is then unknown.
func Add(o *render.Object, root render.RootID, ref render.ObjectRef, values map[string]render.Variable, raw bool) {
	known, whole := Of(o, root, ref)
	for key, d := range known {
		if raw && d.Unknown == "" && (strings.Contains(d.Text, "${") || strings.Contains(d.Text, "$$")) {
			d.Unknown = fmt.Sprintf("of %s it has variables itself, which depend on that object", ref)
		}
		values[key] = render.Variable{Name: key, Value: OneLine(d.Text), Unknown: d.Unknown, Written: d.Written}
	}
	if whole != "" {
		values[""] = render.Variable{Unknown: whole}
	}
}
