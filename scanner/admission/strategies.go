package admission

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/kinds"
)

const (
	groupAdmissionregistration = kinds.GroupAdmission
	groupRBAC                  = kinds.GroupRBAC
	groupResource              = "resource.k8s.io"
)

func gr(group, resource string) schema.GroupResource { return builtin.GR(group, resource) }

// builtinStrategy returns the strategies of a built-in resource. Those of policies
// and resource claims look into the cluster: they check that the user may read
// what a policy refers to.
func (c *Cluster) builtinStrategy(resource schema.GroupResource) builtin.Strategies {
	switch resource {
	case gr(groupAdmissionregistration, "validatingadmissionpolicies"):
		s := validatingadmissionpolicy.NewStrategy(c.nativeAuthorizer(), c)
		return builtin.WithStatus(s, validatingadmissionpolicy.NewStatusStrategy(s))
	case gr(groupAdmissionregistration, "validatingadmissionpolicybindings"):
		return builtin.Both(validatingadmissionpolicybinding.NewStrategy(c.nativeAuthorizer(), c, c))
	case gr(groupAdmissionregistration, "mutatingadmissionpolicies"):
		return builtin.Both(mutatingadmissionpolicy.NewStrategy(c.nativeAuthorizer(), c))
	case gr(groupAdmissionregistration, "mutatingadmissionpolicybindings"):
		return builtin.Both(mutatingadmissionpolicybinding.NewStrategy(c.nativeAuthorizer(), c, c))
	case gr(groupResource, "resourceclaims"):
		s := resourceclaim.NewStrategy(namespaceGetter{cluster: c}, c.nativeAuthorizer())
		return builtin.WithStatus(s, resourceclaim.NewStatusStrategy(s))
	case gr(groupResource, "resourceclaimtemplates"):
		return builtin.Both(resourceclaimtemplate.NewStrategy(namespaceGetter{cluster: c}))
	}
	return builtin.StrategiesOf(resource)
}
