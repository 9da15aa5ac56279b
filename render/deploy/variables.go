package deploy

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
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
		values[name] = render.Variable{Name: name, Value: oneLine(value), Written: render.FieldRef{
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
		object.Namespace = defaultNamespace
	}
	found, ok, err := e.lookUp(n.cluster, object)
	switch {
	case err != nil:
		return err
	case ok:
		return addData(found, values)
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
func addData(o held, values map[string]render.Variable) error {
	var content struct {
		Data       map[string]any `json:"data"`
		StringData map[string]any `json:"stringData"`
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.object.JSON, &content) // it was encoded here; the API server refuses other types
	unknown := unknownKeys(o.object)
	add := func(field, key string, value any, encoded bool) {
		v := render.Variable{Name: key, Written: render.FieldRef{Root: o.root, Index: o.object.Index, Path: origin.AppendKey(field, key)}}
		text, isText := value.(string)
		switch why := unknown(field, key); {
		case why != "":
			v.Unknown = fmt.Sprintf("of %s %s", o.ref(), why)
		case !isText:
			v.Unknown = fmt.Sprintf("%s of %s is no text", key, o.ref())
		case encoded:
			data, err := base64.StdEncoding.DecodeString(text)
			if v.Value = oneLine(string(data)); err != nil {
				v.Unknown = fmt.Sprintf("%s of %s is not base64", key, o.ref())
			}
		default:
			v.Value = oneLine(text)
		}
		values[key] = v
	}
	for key, value := range content.Data {
		add("data", key, value, o.Kind == "Secret")
	}
	if o.Kind == "Secret" {
		for key, value := range content.StringData {
			add("stringData", key, value, false)
		}
	}
	for _, u := range o.object.Unknown {
		if len(u.Path) == 0 || len(u.Path) == 1 && (u.Path[0] == "data" || u.Path[0] == "stringData") {
			values[""] = render.Variable{Unknown: fmt.Sprintf("of %s %s", o.ref(), u.Reason)}
		}
	}
	return nil
}

// unknownKeys tells why a key of an object is not known.
func unknownKeys(o *render.Object) func(field, key string) string {
	reasons := map[[2]string]string{}
	for _, u := range o.Unknown {
		if len(u.Path) >= 2 {
			reasons[[2]string{u.Path[0], u.Path[1]}] = u.Reason
		}
	}
	return func(field, key string) string { return reasons[[2]string{field, key}] }
}
