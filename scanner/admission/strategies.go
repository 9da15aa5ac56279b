package admission

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// strategies are the registry's own rules for a resource: what creation and
// update set, drop and refuse.
type strategies struct {
	create rest.RESTCreateStrategy
	update rest.RESTUpdateStrategy
	// subresources holds the update rules of subresources with the same kind.
	subresources map[string]rest.RESTUpdateStrategy
}

type createUpdateStrategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

func both(s createUpdateStrategy) strategies { return strategies{create: s, update: s} }

func withStatus(s createUpdateStrategy, status rest.RESTUpdateStrategy) strategies {
	return strategies{create: s, update: s, subresources: map[string]rest.RESTUpdateStrategy{"status": status}}
}

// builtinStrategies are the strategies a kube-apiserver installs for its own
// resources (k8s.io/kubernetes/pkg/registry/*/*/storage). Resources that are
// never stored, such as reviews, have none.
var builtinStrategies = sync.OnceValue(func() map[schema.GroupResource]strategies {
	pods := withStatus(pod.Strategy, pod.StatusStrategy)
	pods.subresources["ephemeralcontainers"] = pod.EphemeralContainersStrategy
	pods.subresources["resize"] = pod.ResizeStrategy
	csrs := withStatus(certificates.Strategy, certificates.StatusStrategy)
	csrs.subresources["approval"] = certificates.ApprovalStrategy
	ns := withStatus(namespace.Strategy, namespace.StatusStrategy)
	ns.subresources["finalize"] = namespace.FinalizeStrategy
	crdScheme := apiextensionsCodec().scheme
	crd := customresourcedefinition.NewStrategy(crdScheme)
	apiScheme := apiregistrationCodec().scheme

	return map[schema.GroupResource]strategies{
		gr("", "configmaps"):             both(configmap.Strategy),
		gr("", "endpoints"):              both(endpoint.Strategy),
		gr("", "events"):                 both(event.Strategy),
		gr("", "limitranges"):            both(limitrange.Strategy),
		gr("", "namespaces"):             ns,
		gr("", "nodes"):                  withStatus(node.Strategy, node.StatusStrategy),
		gr("", "persistentvolumes"):      withStatus(persistentvolume.Strategy, persistentvolume.StatusStrategy),
		gr("", "persistentvolumeclaims"): withStatus(persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy),
		gr("", "pods"):                   pods,
		gr("", "podtemplates"):           both(podtemplate.Strategy),
		gr("", "replicationcontrollers"): withStatus(replicationcontroller.Strategy, replicationcontroller.StatusStrategy),
		gr("", "resourcequotas"):         withStatus(resourcequota.Strategy, resourcequota.StatusStrategy),
		gr("", "secrets"):                both(secret.Strategy),
		gr("", "serviceaccounts"):        both(serviceaccount.Strategy),
		gr("", "services"):               withStatus(service.Strategy, service.StatusStrategy),

		gr(groupAdmissionregistration, "mutatingwebhookconfigurations"):   both(mutatingwebhookconfiguration.Strategy),
		gr(groupAdmissionregistration, "validatingwebhookconfigurations"): both(validatingwebhookconfiguration.Strategy),

		gr("apiextensions.k8s.io", "customresourcedefinitions"): withStatus(crd, customresourcedefinition.NewStatusStrategy(crdScheme)),
		gr("apiregistration.k8s.io", "apiservices"):             withStatus(apiservice.NewStrategy(apiScheme).(createUpdateStrategy), apiservice.NewStatusStrategy(apiScheme)),

		gr("apps", "controllerrevisions"): both(controllerrevision.Strategy),
		gr("apps", "daemonsets"):          withStatus(daemonset.Strategy, daemonset.StatusStrategy),
		gr("apps", "deployments"):         withStatus(deployment.Strategy, deployment.StatusStrategy),
		gr("apps", "replicasets"):         withStatus(replicaset.Strategy, replicaset.StatusStrategy),
		gr("apps", "statefulsets"):        withStatus(statefulset.Strategy, statefulset.StatusStrategy),

		gr("autoscaling", "horizontalpodautoscalers"): withStatus(horizontalpodautoscaler.Strategy, horizontalpodautoscaler.StatusStrategy),
		gr("batch", "cronjobs"):                       withStatus(cronjob.Strategy, cronjob.StatusStrategy),
		gr("batch", "jobs"):                           withStatus(job.Strategy, job.StatusStrategy),

		gr("certificates.k8s.io", "certificatesigningrequests"): csrs,
		gr("coordination.k8s.io", "leases"):                     both(lease.Strategy),
		gr("discovery.k8s.io", "endpointslices"):                both(endpointslice.Strategy),
		gr("events.k8s.io", "events"):                           both(event.Strategy),

		gr("flowcontrol.apiserver.k8s.io", "flowschemas"):                 withStatus(flowschema.Strategy, flowschema.StatusStrategy),
		gr("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): withStatus(prioritylevelconfiguration.Strategy, prioritylevelconfiguration.StatusStrategy),

		gr("networking.k8s.io", "ingresses"):       withStatus(ingress.Strategy, ingress.StatusStrategy),
		gr("networking.k8s.io", "ingressclasses"):  both(ingressclass.Strategy),
		gr("networking.k8s.io", "ipaddresses"):     both(ipaddress.Strategy),
		gr("networking.k8s.io", "networkpolicies"): both(networkpolicy.Strategy),
		gr("networking.k8s.io", "servicecidrs"):    withStatus(servicecidr.Strategy, servicecidr.StatusStrategy),
		gr("node.k8s.io", "runtimeclasses"):        both(runtimeclass.Strategy),
		gr("policy", "poddisruptionbudgets"):       withStatus(poddisruptionbudget.Strategy, poddisruptionbudget.StatusStrategy),

		gr(groupRBAC, "clusterroles"):        both(clusterrole.Strategy),
		gr(groupRBAC, "clusterrolebindings"): both(clusterrolebinding.Strategy),
		gr(groupRBAC, "roles"):               both(role.Strategy),
		gr(groupRBAC, "rolebindings"):        both(rolebinding.Strategy),

		gr("resource.k8s.io", "deviceclasses"):  both(deviceclass.Strategy),
		gr("resource.k8s.io", "resourceslices"): both(resourceslice.Strategy),

		gr("scheduling.k8s.io", "priorityclasses"):  both(priorityclass.Strategy),
		gr(groupStorage, "csidrivers"):              both(csidriver.Strategy),
		gr(groupStorage, "csinodes"):                both(csinode.Strategy),
		gr(groupStorage, "csistoragecapacities"):    both(csistoragecapacity.Strategy),
		gr(groupStorage, "storageclasses"):          both(storageclass.Strategy),
		gr(groupStorage, "volumeattachments"):       withStatus(volumeattachment.Strategy, volumeattachment.StatusStrategy),
		gr(groupStorage, "volumeattributesclasses"): both(volumeattributesclass.Strategy),
	}
})

const (
	groupAdmissionregistration = kinds.GroupAdmission
	groupRBAC                  = kinds.GroupRBAC
	groupStorage               = "storage.k8s.io"
	groupResource              = "resource.k8s.io"
)

func gr(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}

// builtinStrategy returns the strategies of a built-in resource. Those of policies
// and resource claims look into the cluster: they check that the user may read
// what a policy refers to.
func (c *Cluster) builtinStrategy(resource schema.GroupResource) strategies {
	switch resource {
	case gr(groupAdmissionregistration, "validatingadmissionpolicies"):
		s := validatingadmissionpolicy.NewStrategy(c.nativeAuthorizer(), c)
		return withStatus(s, validatingadmissionpolicy.NewStatusStrategy(s))
	case gr(groupAdmissionregistration, "validatingadmissionpolicybindings"):
		return both(validatingadmissionpolicybinding.NewStrategy(c.nativeAuthorizer(), c, c))
	case gr(groupAdmissionregistration, "mutatingadmissionpolicies"):
		return both(mutatingadmissionpolicy.NewStrategy(c.nativeAuthorizer(), c))
	case gr(groupAdmissionregistration, "mutatingadmissionpolicybindings"):
		return both(mutatingadmissionpolicybinding.NewStrategy(c.nativeAuthorizer(), c, c))
	case gr(groupResource, "resourceclaims"):
		s := resourceclaim.NewStrategy(namespaceGetter{cluster: c}, c.nativeAuthorizer())
		return withStatus(s, resourceclaim.NewStatusStrategy(s))
	case gr(groupResource, "resourceclaimtemplates"):
		return both(resourceclaimtemplate.NewStrategy(namespaceGetter{cluster: c}))
	}
	return builtinStrategies()[resource]
}
