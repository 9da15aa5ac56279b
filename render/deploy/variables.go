package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/data"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/origin"
)

// resolveVariables finds the values of the variables of a unit: those of ConfigMaps and
// Secrets in their order, then its own.
func (e *expander) resolveVariables(n *node) error {
	post := n.object.Spec.PostBuild
	if post == nil {
		return nil
	}
	values := map[string]render.Variable{}
	for i, ref := range post.SubstituteFrom {
		if ref.Kind != "ConfigMap" && ref.Kind != "Secret" {
			n.fail(render.ProblemFailed, fmt.Sprintf("spec.postBuild.substituteFrom[%d].kind", i), fmt.Sprintf("substitute from %q: only ConfigMap and Secret are allowed", ref.Kind))
			return nil
		}
		if err := e.variablesOf(n, ref, i, values); err != nil {
			return err
		}
	}
	for name, value := range post.Substitute {
		values[name] = render.Variable{Name: name, Value: oneLine(value), Unknown: n.unknown[name], Written: render.FieldRef{
			Root: n.root.Unit.Parent, Index: n.root.Unit.Index, Path: origin.AppendKey("spec.postBuild.substitute", name),
		}}
	}
	n.root.Unit.Variables = slices.SortedFunc(maps.Values(values), func(a, b render.Variable) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// oneLine is a value as the controller substitutes it.
func oneLine(value string) string { return strings.ReplaceAll(value, "\n", "") }

// variablesOf adds the variables of a ConfigMap or Secret.
func (e *expander) variablesOf(n *node, ref flux.Reference, at int, values map[string]render.Variable) error {
	object := render.ObjectRef{Kind: ref.Kind, Namespace: n.object.Metadata.Namespace, Name: ref.Name}
	if object.Namespace == "" {
		object.Namespace = objects.DefaultNamespace
	}
	found, ok, err := e.lookUp(n.cluster, object)
	switch {
	case err != nil:
		return err
	case ok:
		addData(found, values)
		return nil
	case ref.Optional:
		e.remark(n, fmt.Sprintf("spec.postBuild.substituteFrom[%d]", at), fmt.Sprintf("%s is optional and not in the repository: its variables are taken to have no values", object))
		return nil
	}
	values[""] = render.Variable{Unknown: fmt.Sprintf("%s, from which variables are substituted, is not in the repository", object)}
	return nil
}

// remarkFields warns of fields of a unit's object that no version of it is known to have.
func (e *expander) remarkFields(n *node) {
	for _, field := range flux.UnknownFields(n.root.Unit.Object) {
		e.diagnose(n, render.SeverityWarning, field, fmt.Sprintf("%s is no field of %s: a server refuses it or leaves it out", field, n.object.APIVersion))
	}
}

// remark adds a note about a field of a unit's object.
func (e *expander) remark(n *node, field, message string) {
	e.diagnose(n, render.SeverityNote, field, message)
}

func (e *expander) diagnose(n *node, severity render.Severity, field, message string) {
	d := render.Diagnostic{Severity: severity, Position: n.root.Unit.Position(e.ctx, field), Message: message}
	if !slices.Contains(e.graph.Diagnostics, d) {
		e.graph.Diagnostics = append(e.graph.Diagnostics, d)
	}
}

// addData adds the data of a ConfigMap or Secret to variables.
func addData(o objects.Held, values map[string]render.Variable) {
	known, whole := data.Of(o.Object, o.Root, o.Ref())
	for key, d := range known {
		values[key] = render.Variable{Name: key, Value: oneLine(d.Text), Unknown: d.Unknown, Written: d.Written}
	}
	if whole != "" {
		values[""] = render.Variable{Unknown: whole}
	}
}
