package patches

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// undefinedField matches a type check's error about a field that a type does not have.
var undefinedField = regexp.MustCompile(`^undefined field '([^']*)'$`)

// Reads returns the fields of object and oldObject that an expression reads and that no kind has. The
// API server checks types of validating policies only; this is the same check, with schemas in which
// values without a type may be anything.
func (c *Checker) Reads(expression string, kinds []schema.GroupVersionKind) []Problem {
	var all []Problem
	for i, kind := range kinds {
		found, ok := c.undefined(expression, kind)
		if !ok {
			return nil
		}
		if i == 0 {
			all = found
		}
		all = slices.DeleteFunc(all, func(p Problem) bool { return !slices.Contains(found, p) })
	}
	for i := range all {
		all[i].Message += of(kinds)
		all[i].Hint = "correct the name of the field: it is never there"
	}
	return all
}

// undefined returns the fields that an expression reads and a kind does not have; ok is false if that
// is not known.
func (c *Checker) undefined(expression string, kind schema.GroupVersionKind) (all []Problem, ok bool) {
	env := c.env(kind)
	if env == nil {
		return nil, false
	}
	_, issues := env.Compile(expression)
	if issues == nil {
		return nil, true
	}
	for _, e := range issues.Errors() {
		m := undefinedField.FindStringSubmatch(e.Message)
		if m == nil {
			continue
		}
		// Names that are escaped in types are not in objects.
		if escaped, ok := apiservercel.Escape(m[1]); ok && escaped != m[1] {
			continue
		}
		all = append(all, Problem{Line: e.Location.Line(), Column: e.Location.Column() + 1, Message: e.Message})
	}
	return all, true
}

// env returns the environment of expressions about a kind, nil if there is none.
func (c *Checker) env(kind schema.GroupVersionKind) *cel.Env {
	env, known := c.envs[kind]
	if !known {
		if s := c.schema(kind); s != nil {
			env, _ = typedEnv(relaxed(*s), kind) // without an environment there are no problems
		}
		c.envs[kind] = env
	}
	return env
}

// typedEnv returns the environment of expressions with object and oldObject of a type.
func typedEnv(s *spec.Schema, kind schema.GroupVersionKind) (*cel.Env, error) {
	object := common.SchemaDeclType(&openapi.Schema{Schema: s}, false)
	if object == nil {
		return nil, fmt.Errorf("%s has no type", kind.Kind)
	}
	object = object.MaybeAssignTypeName(kind.Kind)
	options := []cel.EnvOption{
		cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType),
		cel.Variable(plugincel.RequestResourceAuthorizerVarName, library.ResourceCheckType),
		cel.Variable(plugincel.ObjectVarName, object.CelType()), cel.Variable(plugincel.OldObjectVarName, object.CelType()),
	}
	for _, name := range []string{plugincel.ParamsVarName, plugincel.RequestVarName, plugincel.NamespaceVarName, plugincel.VariableVarName} {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	first := version.MajorMinor(1, 0)
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(
		environment.VersionedOptions{IntroducedVersion: first, EnvOptions: options, DeclTypes: []*apiservercel.DeclType{object}})
	if err != nil {
		return nil, err
	}
	set, err = set.Extend(environment.VersionedOptions{IntroducedVersion: first, EnvOptions: []cel.EnvOption{
		common.ResolverEnvOption(&celmutation.DynamicTypeResolver{}), environment.UnversionedLib(library.JSONPatch),
	}})
	if err != nil {
		return nil, err
	}
	return set.Env(environment.StoredExpressions)
}

// relaxed returns a schema in which values without a type, or with any fields, have any type, and
// texts have no format, since objects have plain texts there.
func relaxed(s spec.Schema) *spec.Schema {
	s.Format = ""
	list := s.Type.Contains("array")
	if len(s.Type) == 0 || list && (s.Items == nil || s.Items.Schema == nil) || s.Type.Contains("object") && anyFields(&s) {
		extensions := spec.Extensions{}
		extensions.Add("x-kubernetes-int-or-string", true)
		return &spec.Schema{VendorExtensible: spec.VendorExtensible{Extensions: extensions}}
	}
	if list {
		s.Items = &spec.SchemaOrArray{Schema: relaxed(*s.Items.Schema)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: relaxed(*s.AdditionalProperties.Schema)}
	}
	properties := map[string]spec.Schema{}
	for name, p := range s.Properties {
		properties[name] = *relaxed(p)
	}
	s.Properties = properties
	return &s
}
