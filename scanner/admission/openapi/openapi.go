// Package openapi resolves the OpenAPI schemas that an API server publishes for its kinds.
package openapi

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi"
	apiregistrationinstall "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
)

// builtinSchemas returns the resolver of the schemas of built-in kinds, like that of
// kube-controller-manager (cmd/kube-controller-manager/app/validatingadmissionpolicystatus.go). It
// has the aggregator's kinds too, which the controller requests from the server. It is created once,
// since that takes a while.
var builtinSchemas = sync.OnceValue(func() *resolver.DefinitionsSchemaResolver {
	extensions, aggregator := runtime.NewScheme(), runtime.NewScheme()
	install.Install(extensions)
	apiregistrationinstall.Install(aggregator)
	return resolver.NewDefinitionsSchemaResolver(generated.GetOpenAPIDefinitions, scheme.Scheme, extensions, aggregator)
})

// Custom is a custom kind in a served version.
type Custom struct {
	Version schema.GroupVersion
	// Definition returns the definition. The error means that a server would not accept it.
	Definition func() (*apiextensionsv1.CustomResourceDefinition, error)
}

// Resolver returns a resolver for the schemas of built-in kinds, and of the custom kinds that a function
// lists, like that of the controller that type-checks policies.
func Resolver(custom func() []Custom) resolver.SchemaResolver {
	return builtinSchemas().Combine(&resolver.ClientDiscoveryResolver{Discovery: publishing{custom: custom}})
}

// publishing is a discovery client that only has the OpenAPI of custom kinds.
type publishing struct {
	discovery.DiscoveryInterface
	custom func() []Custom
}

// OpenAPIV3 implements discovery.OpenAPIV3SchemaInterface.
func (p publishing) OpenAPIV3() openapi.Client { return p }

// Paths implements openapi.Client: one document for each version of each group.
func (p publishing) Paths() (map[string]openapi.GroupVersion, error) {
	all := map[schema.GroupVersion][]Custom{}
	for _, c := range p.custom() {
		all[c.Version] = append(all[c.Version], c)
	}
	paths := map[string]openapi.GroupVersion{}
	for gv, kinds := range all {
		paths[fmt.Sprintf("apis/%s/%s", gv.Group, gv.Version)] = published(kinds)
	}
	return paths, nil
}

// published is the OpenAPI document of the custom kinds of a group and version.
type published []Custom

// ServerRelativeURL implements openapi.GroupVersion; there is no server.
func (p published) ServerRelativeURL() string { return "" }

// Schema implements openapi.GroupVersion. It omits a definition that the server would not accept, since it is
// not published.
func (p published) Schema(string) ([]byte, error) {
	type components struct {
		Schemas map[string]any `json:"schemas"`
	}
	document := struct {
		Components components `json:"components"`
	}{components{map[string]any{}}}
	for _, c := range p {
		definition, err := c.Definition()
		if err != nil {
			continue
		}
		built, err := build(definition, c.Version.Version)
		if err != nil {
			return nil, fmt.Errorf("publish %s: %w", definition.Name, err)
		}
		for name, s := range built {
			document.Components.Schemas[name] = s
		}
	}
	return json.Marshal(document)
}

// build returns the schemas that the server publishes for a version of a definition
// (k8s.io/apiextensions-apiserver/pkg/controller/openapiv3).
func build(crd *apiextensionsv1.CustomResourceDefinition, version string) (map[string]any, error) {
	document, err := builder.BuildOpenAPIV3(crd, version, builder.Options{IncludeSelectableFields: true})
	if err != nil {
		return nil, err
	}
	schemas := map[string]any{}
	for name, s := range document.Components.Schemas {
		schemas[name] = s
	}
	return schemas, nil
}
