package data

import (
	"strings"

	"github.com/preadmit/preadmit/render"
)

// OneLine returns a value as kustomize-controller substitutes it: without newlines.
func OneLine(value string) string { return strings.ReplaceAll(value, "\n", "") }

// Add adds the data of a ConfigMap or Secret that a root renders to variables.
func Add(o *render.Object, root render.RootID, ref render.ObjectRef, values map[string]render.Variable) {
	known, whole := Of(o, root, ref)
	for key, d := range known {
		values[key] = render.Variable{Name: key, Value: OneLine(d.Text), Unknown: d.Unknown, Written: d.Written}
	}
	if whole != "" {
		values[""] = render.Variable{Unknown: whole}
	}
}
