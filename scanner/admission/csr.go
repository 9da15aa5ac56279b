package admission

import (
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	certapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	certsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	certsubjectrestriction "k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"
)

// newCertificatePlugins are the plugins that judge CertificateSigningRequests, in
// the order of a kube-apiserver. Whether somebody may approve and sign takes all
// RBAC objects.
func (c *Cluster) newCertificatePlugins() []admission.ValidationInterface {
	registry := admission.NewPlugins()
	var names []string
	if c.KnowsRBAC() {
		certapproval.Register(registry)
		certsigning.Register(registry)
		names = append(names, certapproval.PluginName, certsigning.PluginName)
	}
	certsubjectrestriction.Register(registry)
	var plugins []admission.ValidationInterface
	for _, name := range append(names, certsubjectrestriction.PluginName) {
		plugin, err := registry.InitPlugin(name, nil, authorizing{c.rbac().Authorizer})
		if err != nil {
			panic(fmt.Sprintf("admission plugin %s: %v", name, err)) // takes no configuration
		}
		plugins = append(plugins, plugin.(admission.ValidationInterface))
	}
	return plugins
}

// authorizing returns plugins the authorizer they ask for.
type authorizing struct{ authorizer.Authorizer }

// Initialize implements admission.PluginInitializer.
func (a authorizing) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsAuthorizer); ok {
		p.SetAuthorizer(a.Authorizer)
	}
}
