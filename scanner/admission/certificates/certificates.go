// Package certificates has the plugins of an API server that judge CertificateSigningRequests.
package certificates

import (
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	certapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	certsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	certsubjectrestriction "k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"
)

// Plugins returns the plugins in the order of a kube-apiserver. The checks that a user may approve or
// sign need an authorizer with all RBAC objects; they are skipped if it is nil.
func Plugins(rights authorizer.Authorizer) []admission.ValidationInterface {
	registry := admission.NewPlugins()
	var names []string
	if rights != nil {
		certapproval.Register(registry)
		certsigning.Register(registry)
		names = append(names, certapproval.PluginName, certsigning.PluginName)
	}
	certsubjectrestriction.Register(registry)
	var plugins []admission.ValidationInterface
	for _, name := range append(names, certsubjectrestriction.PluginName) {
		plugin, err := registry.InitPlugin(name, nil, authorizing{rights})
		if err != nil {
			panic(fmt.Sprintf("admission plugin %s: %v", name, err)) // it takes no configuration
		}
		plugins = append(plugins, plugin.(admission.ValidationInterface))
	}
	return plugins
}

// authorizing sets the authorizer of plugins.
type authorizing struct{ authorizer.Authorizer }

// Initialize implements admission.PluginInitializer.
func (a authorizing) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsAuthorizer); ok {
		p.SetAuthorizer(a.Authorizer)
	}
}
