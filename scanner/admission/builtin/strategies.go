package builtin

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apiserverinternal/storageversion"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/coordination/leasecandidate"
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
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourcepoolstatusrequest"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/scheduling/workload"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// Strategies are the registry's own rules for a resource: the fields that creation and update set,
// drop and refuse.
type Strategies struct {
	Create rest.RESTCreateStrategy
	Update rest.RESTUpdateStrategy
	// Subresources holds the update rules of subresources with the same kind.
	Subresources map[string]rest.RESTUpdateStrategy
}

// CreateUpdateStrategy is a strategy for creation and update.
type CreateUpdateStrategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// Both returns the strategies of a resource with one strategy for creation and update.
func Both(s CreateUpdateStrategy) Strategies { return Strategies{Create: s, Update: s} }

// WithStatus is like Both, with a strategy for the subresource status.
func WithStatus(s CreateUpdateStrategy, status rest.RESTUpdateStrategy) Strategies {
	return Strategies{Create: s, Update: s, Subresources: map[string]rest.RESTUpdateStrategy{"status": status}}
}

// stored returns the strategies that a kube-apiserver installs for its own resources
// (k8s.io/kubernetes/pkg/registry/*/*/storage). Resources that are never stored, such as reviews,
// have none.
var stored = sync.OnceValue(func() map[schema.GroupResource]Strategies {
	pods := WithStatus(pod.Strategy, pod.StatusStrategy)
	pods.Subresources["ephemeralcontainers"] = pod.EphemeralContainersStrategy
	pods.Subresources["resize"] = pod.ResizeStrategy
	csrs := WithStatus(certificates.Strategy, certificates.StatusStrategy)
	csrs.Subresources["approval"] = certificates.ApprovalStrategy
	ns := WithStatus(namespace.Strategy, namespace.StatusStrategy)
	ns.Subresources["finalize"] = namespace.FinalizeStrategy
	crdScheme := extensions().Scheme
	crd := customresourcedefinition.NewStrategy(crdScheme)
	apiScheme := registration().Scheme
	groups := podgroup.NewStrategy()

	return map[schema.GroupResource]Strategies{
		GR("", "configmaps"):             Both(configmap.Strategy),
		GR("", "endpoints"):              Both(endpoint.Strategy),
		GR("", "events"):                 Both(event.Strategy),
		GR("", "limitranges"):            Both(limitrange.Strategy),
		GR("", "namespaces"):             ns,
		GR("", "nodes"):                  WithStatus(node.Strategy, node.StatusStrategy),
		GR("", "persistentvolumes"):      WithStatus(persistentvolume.Strategy, persistentvolume.StatusStrategy),
		GR("", "persistentvolumeclaims"): WithStatus(persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy),
		GR("", "pods"):                   pods,
		GR("", "podtemplates"):           Both(podtemplate.Strategy),
		GR("", "replicationcontrollers"): WithStatus(replicationcontroller.Strategy, replicationcontroller.StatusStrategy),
		GR("", "resourcequotas"):         WithStatus(resourcequota.Strategy, resourcequota.StatusStrategy),
		GR("", "secrets"):                Both(secret.Strategy),
		GR("", "serviceaccounts"):        Both(serviceaccount.Strategy),
		GR("", "services"):               WithStatus(service.Strategy, service.StatusStrategy),

		GR(groupAdmissionregistration, "mutatingwebhookconfigurations"):   Both(mutatingwebhookconfiguration.Strategy),
		GR(groupAdmissionregistration, "validatingwebhookconfigurations"): Both(validatingwebhookconfiguration.Strategy),

		GR("apiextensions.k8s.io", "customresourcedefinitions"): WithStatus(crd, customresourcedefinition.NewStatusStrategy(crdScheme)),
		GR("apiregistration.k8s.io", "apiservices"):             WithStatus(apiservice.NewStrategy(apiScheme).(CreateUpdateStrategy), apiservice.NewStatusStrategy(apiScheme)),

		GR("apps", "controllerrevisions"): Both(controllerrevision.Strategy),
		GR("apps", "daemonsets"):          WithStatus(daemonset.Strategy, daemonset.StatusStrategy),
		GR("apps", "deployments"):         WithStatus(deployment.Strategy, deployment.StatusStrategy),
		GR("apps", "replicasets"):         WithStatus(replicaset.Strategy, replicaset.StatusStrategy),
		GR("apps", "statefulsets"):        WithStatus(statefulset.Strategy, statefulset.StatusStrategy),

		GR("autoscaling", "horizontalpodautoscalers"): WithStatus(horizontalpodautoscaler.Strategy, horizontalpodautoscaler.StatusStrategy),
		GR("batch", "cronjobs"):                       WithStatus(cronjob.Strategy, cronjob.StatusStrategy),
		GR("batch", "jobs"):                           WithStatus(job.Strategy, job.StatusStrategy),

		GR("certificates.k8s.io", "certificatesigningrequests"): csrs,
		GR("certificates.k8s.io", "clustertrustbundles"):        Both(clustertrustbundle.Strategy),
		GR("certificates.k8s.io", "podcertificaterequests"):     Both(podcertificaterequest.NewStrategy()),
		GR("coordination.k8s.io", "leases"):                     Both(lease.Strategy),
		GR("coordination.k8s.io", "leasecandidates"):            Both(leasecandidate.Strategy),
		GR("discovery.k8s.io", "endpointslices"):                Both(endpointslice.Strategy),
		GR("events.k8s.io", "events"):                           Both(event.Strategy),

		GR("flowcontrol.apiserver.k8s.io", "flowschemas"):                 WithStatus(flowschema.Strategy, flowschema.StatusStrategy),
		GR("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): WithStatus(prioritylevelconfiguration.Strategy, prioritylevelconfiguration.StatusStrategy),

		GR("networking.k8s.io", "ingresses"):       WithStatus(ingress.Strategy, ingress.StatusStrategy),
		GR("networking.k8s.io", "ingressclasses"):  Both(ingressclass.Strategy),
		GR("networking.k8s.io", "ipaddresses"):     Both(ipaddress.Strategy),
		GR("networking.k8s.io", "networkpolicies"): Both(networkpolicy.Strategy),
		GR("networking.k8s.io", "servicecidrs"):    WithStatus(servicecidr.Strategy, servicecidr.StatusStrategy),
		GR("node.k8s.io", "runtimeclasses"):        Both(runtimeclass.Strategy),
		GR("policy", "poddisruptionbudgets"):       WithStatus(poddisruptionbudget.Strategy, poddisruptionbudget.StatusStrategy),

		GR(groupRBAC, "clusterroles"):        Both(clusterrole.Strategy),
		GR(groupRBAC, "clusterrolebindings"): Both(clusterrolebinding.Strategy),
		GR(groupRBAC, "roles"):               Both(role.Strategy),
		GR(groupRBAC, "rolebindings"):        Both(rolebinding.Strategy),

		GR("internal.apiserver.k8s.io", "storageversions"): WithStatus(storageversion.Strategy, storageversion.StatusStrategy),

		GR("resource.k8s.io", "deviceclasses"):              Both(deviceclass.Strategy),
		GR("resource.k8s.io", "devicetaintrules"):           WithStatus(devicetaintrule.Strategy, devicetaintrule.StatusStrategy),
		GR("resource.k8s.io", "resourcepoolstatusrequests"): WithStatus(resourcepoolstatusrequest.Strategy, resourcepoolstatusrequest.StatusStrategy),
		GR("resource.k8s.io", "resourceslices"):             Both(resourceslice.Strategy),

		GR("scheduling.k8s.io", "podgroups"):        WithStatus(groups, podgroup.NewStatusStrategy(groups)),
		GR("scheduling.k8s.io", "priorityclasses"):  Both(priorityclass.Strategy),
		GR("scheduling.k8s.io", "workloads"):        Both(workload.Strategy),
		GR(groupStorage, "csidrivers"):              Both(csidriver.Strategy),
		GR(groupStorage, "csinodes"):                Both(csinode.Strategy),
		GR(groupStorage, "csistoragecapacities"):    Both(csistoragecapacity.Strategy),
		GR(groupStorage, "storageclasses"):          Both(storageclass.Strategy),
		GR(groupStorage, "volumeattachments"):       WithStatus(volumeattachment.Strategy, volumeattachment.StatusStrategy),
		GR(groupStorage, "volumeattributesclasses"): Both(volumeattributesclass.Strategy),

		GR("storagemigration.k8s.io", "storageversionmigrations"): WithStatus(storagemigration.Strategy, storagemigration.StatusStrategy),
	}
})

const (
	groupAdmissionregistration = kinds.GroupAdmission
	groupRBAC                  = kinds.GroupRBAC
	groupStorage               = "storage.k8s.io"
)

// GR returns a GroupResource.
func GR(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}

// StrategiesOf returns the strategies of a built-in resource. It does not have those whose rules read
// the cluster (policies, resource claims).
func StrategiesOf(resource schema.GroupResource) Strategies { return stored()[resource] }
