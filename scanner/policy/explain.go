package policy

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	v1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// Reading is a value that an expression read.
type Reading struct {
	// Path is like object.spec.containers[0].image.
	Path string
	// Value is JSON-like. Values of a Secret are replaced by Masked.
	Value any
	// Missing is set if the object has no value at the path.
	Missing bool
}

// Masked replaces a value of a Secret.
const Masked = "(masked)"

// maxReadings bounds the readings of an expression.
const maxReadings = 20

// Explain returns the values that the failed expression of a decision read: those of object,
// oldObject, params, request, namespaceObject and variables. There are at most 20; more is set if
// some are left out. Without an expression there are none.
func (e *Engine) Explain(ctx context.Context, req *admission.Request, d *Decision) (readings []Reading, more bool, err error) {
	if d.Expression == "" || d.Binding == nil {
		return nil, false, nil
	}
	paths, err := readsOf(d)
	if err != nil {
		return nil, false, err
	}
	roots, err := e.rootsOf(ctx, req, d)
	if err != nil {
		return nil, false, err
	}
	for _, path := range paths {
		if root, ok := roots.values[path[0]]; ok {
			readings = append(readings, follow(root, path, path[:1].String(), 1)...)
		}
		if path[0] == plugincel.VariableVarName && len(path) > 1 {
			readings = append(readings, roots.variable(path)...)
		}
	}
	if len(readings) > maxReadings {
		return readings[:maxReadings], true, nil
	}
	return readings, false, nil
}

// readsOf returns the paths that the expression of a decision reads, directly or through the policy's
// variables.
func readsOf(d *Decision) ([]expressions.Path, error) {
	texts := map[string]string{}
	for _, v := range d.Policy.Spec.Variables {
		texts[v.Name] = v.Expression
	}
	paths, err := expressions.Reads(d.Expression)
	if err != nil {
		return nil, fmt.Errorf("parse the expression: %w", err)
	}
	for i := 0; i < len(paths); i++ {
		if p := paths[i]; p[0] == plugincel.VariableVarName && len(p) > 1 && texts[p[1]] != "" {
			text := texts[p[1]]
			delete(texts, p[1]) // once is enough
			more, err := expressions.Reads(text)
			if err != nil {
				return nil, fmt.Errorf("parse variable %s: %w", p[1], err)
			}
			paths = append(paths, more...)
		}
	}
	return expressions.Longest(paths), nil
}

// roots are the values of the variables of an expression.
type roots struct {
	values     map[string]any
	activation *activation
	// secret is set if variables may contain values of a Secret.
	secret bool
}

// rootsOf rebuilds the variables of a decision's evaluation.
func (e *Engine) rootsOf(ctx context.Context, req *admission.Request, d *Decision) (*roots, error) {
	m := e.matcher.policy(req, d.Policy)
	if m.err != nil {
		return nil, m.err
	}
	version, err := req.Version(m.kind)
	if err != nil {
		return nil, err
	}
	again := e.dispatch(ctx, req)
	if err := again.namespace().err; err != nil {
		return nil, err
	}
	run := &evaluation{
		dispatch: again,
		policy:   d.Policy, binding: d.Binding, param: d.Param,
		compiled: e.compiler.compile(d.Policy.ValidatingAdmissionPolicy),
		version:  version, resource: m.resource,
	}
	if err := run.prepare(); err != nil {
		return nil, err
	}
	r := &roots{activation: run.activation(true, m.resource, again.namespace().object)}
	r.secret = secrets.IsSecret(version.Object) || secrets.IsSecret(version.OldObject) || secrets.IsSecret(run.params)
	r.values = map[string]any{
		plugincel.ObjectVarName: Shown(version.Object), plugincel.OldObjectVarName: Shown(version.OldObject),
		plugincel.ParamsVarName: Shown(run.params), plugincel.RequestVarName: r.activation.request(),
		plugincel.NamespaceVarName: r.activation.namespace(),
	}
	return r, nil
}

// variable evaluates a variable of the policy. If it may be computed from a Secret, it is masked as a
// whole.
func (r *roots) variable(path expressions.Path) []Reading {
	name := path[:2].String()
	if r.secret {
		return []Reading{{Path: name, Value: Masked}}
	}
	value, found := r.activation.variablesValue().(traits.Mapper).Find(celtypes.String(path[1]))
	if !found {
		return []Reading{{Path: name, Missing: true}}
	}
	return follow(native(value), path, name, 2)
}

// native turns a CEL value into a JSON-like one; a value that JSON cannot represent becomes text.
func native(v ref.Val) any {
	if err, ok := v.(*celtypes.Err); ok {
		return "error: " + err.Error()
	}
	converted, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return fmt.Sprint(v.Value())
	}
	return converted.(*structpb.Value).AsInterface()
}

// follow returns the values at path[at:] of value, which has the path name; Each matches all items.
func follow(value any, path expressions.Path, name string, at int) []Reading {
	if at == len(path) {
		return []Reading{{Path: name, Value: value}}
	}
	switch v := value.(type) {
	case map[string]any:
		if path[at] == expressions.Each { // keys are not known here: return the whole map
			return []Reading{{Path: name, Value: v}}
		}
		next := name + expressions.Path{"", path[at]}.String()
		if field, ok := v[path[at]]; ok {
			return follow(field, path, next, at+1)
		}
		return []Reading{{Path: next, Missing: true}}
	case []any:
		return followList(v, path, name, at)
	}
	// A scalar or null has no fields; it is returned itself.
	return []Reading{{Path: name, Value: value}}
}

func followList(list []any, path expressions.Path, name string, at int) []Reading {
	if path[at] != expressions.Each {
		i, err := strconv.Atoi(strings.Trim(path[at], "[]"))
		if err != nil || i < 0 || i >= len(list) {
			return []Reading{{Path: name + path[at], Missing: true}}
		}
		return follow(list[i], path, name+path[at], at+1)
	}
	if len(list) == 0 {
		return []Reading{{Path: name, Value: list}}
	}
	var readings []Reading
	for i, item := range list {
		if len(readings) > maxReadings {
			break // Explain sets more
		}
		readings = append(readings, follow(item, path, fmt.Sprintf("%s[%d]", name, i), at+1)...)
	}
	return readings
}

// Shown returns content that may be shown: of a Secret the keys, not the values.
func Shown(content map[string]any) any {
	switch {
	case content == nil:
		return nil
	case !secrets.IsSecret(content):
		return content
	}
	masked := map[string]any{}
	for key, value := range content {
		switch key {
		case "apiVersion", "kind", "type", "immutable":
			masked[key] = value
		case "metadata":
			masked[key] = shownMetadata(value)
		default:
			masked[key] = mask(value)
		}
	}
	return masked
}

// shownMetadata masks annotations: kubectl keeps the whole object in one.
func shownMetadata(value any) any {
	metadata, _ := value.(map[string]any)
	masked := map[string]any{}
	for key, value := range metadata {
		if masked[key] = value; key == "annotations" {
			masked[key] = mask(value)
		}
	}
	return masked
}

func mask(value any) any {
	fields, ok := value.(map[string]any)
	if !ok {
		return Masked
	}
	masked := map[string]any{}
	for key := range fields {
		masked[key] = Masked
	}
	return masked
}

// Input are the variables that the expressions of a policy see, to explain a decision. It must not be
// modified.
type Input struct {
	// Object, OldObject, Params, Request and Namespace are the variables object,
	// oldObject, params, request and namespaceObject; nil when null.
	Object, OldObject, Params, Request, Namespace map[string]any
	// Variables are the policy's variables.
	Variables []v1.Variable
}

// input returns the variables of an activation.
func (e *evaluation) input(a *activation) *Input {
	in := &Input{
		Object: e.version.Object, OldObject: e.version.OldObject, Params: e.params,
		Variables: e.policy.Spec.Variables,
	}
	in.Request = a.request()
	in.Namespace, _ = a.namespace().(map[string]any)
	return in
}
