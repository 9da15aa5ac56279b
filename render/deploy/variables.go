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

// resolveVariables finds the values of the variables of a unit: those of ConfigMaps and Secrets in their order, then
// those of its object.
func (e *expander) resolveVariables(n *node) error {
	post := n.object.Spec.PostBuild
	if post == nil {
		return nil
	}
	values := map[string]render.Variable{}
	if why := n.unknown[""]; why != "" {
		values[""] = render.Variable{Unknown: why}
	}
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
		values[name] = render.Variable{Name: name, Value: data.OneLine(value), Unknown: n.unknown[name], Written: render.FieldRef{
			Root: n.root.Unit.Parent, Index: n.root.Unit.Index, Path: origin.AppendKey("spec.postBuild.substitute", name),
		}}
	}
	n.root.Unit.Variables = slices.SortedFunc(maps.Values(values), func(a, b render.Variable) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// variablesOf adds the variables of a ConfigMap or Secret.
func (e *expander) variablesOf(n *node, ref flux.Reference, at int, values map[string]render.Variable) error {
	object := render.ObjectRef{Kind: ref.Kind, Namespace: n.object.Metadata.Namespace, Name: ref.Name}
	if object.Namespace == "" {
		object.Namespace = objects.DefaultNamespace
	}
	if e.resultOf(n) == nil && e.mayHold(e.withoutVariables(n), render.Mention{Kind: object.Kind, Name: object.Name}) {
		if err := e.renderRaw(n); err != nil { // its own object takes precedence over what was applied by hand
			return err
		}
	}
	found, ok, err := e.lookUp(n.cluster, object)
	switch {
	case err != nil:
		return err
	case ok:
		data.Add(found.Object, found.Root, found.Ref(), values, strings.HasSuffix(found.Root.Cluster, WithoutVariables))
		return nil
	case ref.Optional:
		e.diagnose(n, render.SeverityNote, fmt.Sprintf("spec.postBuild.substituteFrom[%d]", at), fmt.Sprintf("%s is optional and not in the repository: its variables are taken to have no values", object))
		return nil
	case e.opts.Before.Deletes(n.cluster.name, object):
		e.claim(n)
		n.fail(render.ProblemFailed, fmt.Sprintf("spec.postBuild.substituteFrom[%d]", at), fmt.Sprintf("%s, from which variables are substituted, is deleted by the change", object))
		return nil
	}
	values[""] = render.Variable{Unknown: fmt.Sprintf("%s, from which variables are substituted, is not in the repository", object)}
	return nil
}

// remarkFields warns about fields that no known version of the unit's kind has.
func (e *expander) remarkFields(n *node) {
	for _, field := range flux.UnknownFields(n.root.Unit.Object) {
		e.diagnose(n, render.SeverityWarning, field, fmt.Sprintf("%s is no field of %s: a server refuses it or leaves it out", field, n.object.APIVersion))
	}
}

func (e *expander) diagnose(n *node, severity render.Severity, field, message string) {
	d := render.Diagnostic{Severity: severity, Position: n.root.Unit.Position(e.ctx, field), Message: message}
	if !slices.Contains(e.graph.Diagnostics, d) {
		e.graph.Diagnostics = append(e.graph.Diagnostics, d)
	}
}
