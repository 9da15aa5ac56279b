package controllers

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	podsecurity "k8s.io/pod-security-admission/api"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// Generated is an object that a controller of kube-controller-manager creates for another one, its
// owner.
type Generated struct {
	// Object is the object that the controller sends.
	Object *admission.Object
	// User is the controller's service account.
	User  user.Info
	moves []move
}

// Request returns the controller's request.
func (g *Generated) Request() admission.ClientRequest {
	return admission.ClientRequest{Operation: apiserver.Create, User: g.User, Object: g.Object, GeneratedName: true}
}

// Generate returns the object that the controller of a workload creates once the request is allowed:
// the ReplicaSet of a Deployment, the Job of a CronJob, the first Pod of the others. It is nil for
// other objects, for a DELETE, and for a workload for which nothing is created: without replicas,
// paused, suspended, or managed by a controller that is not Kubernetes' own.
//
// Values that a server chooses or that are random are fixed here: the revision is 1, a DaemonSet's
// node is called "node", and a CronJob is due when it is created.
//
// For an object with unknown fields it is the object created for those values for which there is one;
// fields that differ among these are unknown as well.
func Generate(r *admission.Request) (*Generated, error) {
	g, err := generate(r)
	if err != nil {
		return nil, err
	}
	fields, _ := r.Unknown()
	if len(fields) == 0 {
		return g, nil
	}
	var contents []map[string]any
	for _, other := range append([]*admission.Request{r}, r.Others()...) {
		one, err := generate(other)
		if err != nil {
			return nil, err
		}
		if one != nil {
			g = cmp.Or(g, one)
			contents = append(contents, one.Object.Content())
		}
	}
	if g == nil {
		return nil, nil
	}
	object := admission.NewObject(g.Object.Content())
	object.Unknown = g.unknown(contents, fields)
	return &Generated{Object: object, User: g.User, moves: g.moves}, nil
}

// unknown returns the fields that depend on unknown fields of the owner.
func (g *Generated) unknown(contents []map[string]any, fields []render.Unknown) []render.Unknown {
	var moved []render.Unknown
	for _, f := range fields {
		for _, m := range g.moves {
			if to := unknown.Path(m.to); len(to) <= len(f.Path) && slices.Equal(to, f.Path[:len(to)]) {
				moved = append(moved, render.Unknown{Path: slices.Concat(unknown.Path(m.from), f.Path[len(to):]), Reason: f.Reason})
			}
		}
	}
	if len(contents) == 1 { // nothing to compare with
		return unknown.Fields(unknown.Merge(contents, moved, nil))
	}
	return unknown.Fields(unknown.Merge(contents, nil, slices.Concat(moved, fields)))
}

func generate(r *admission.Request) (*Generated, error) {
	op := r.GetOperation()
	kind := r.GetKind()
	if op != apiserver.Create && op != apiserver.Update || r.GetSubresource() != "" || len(GeneratedBy(kind.GroupKind())) == 0 {
		return nil, nil
	}
	v, err := r.Version(kind)
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", kind.Kind, err)
	}
	owner, err := builtin.Stored(v.VersionedObject)
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", kind.Kind, err)
	}
	switch o := owner.(type) {
	case *appsv1.Deployment:
		return replicaSetOf(o)
	case *appsv1.ReplicaSet:
		return replicaOf(o, &o.Spec.Template, o.Spec.Replicas, kind, "replicaset-controller")
	case *corev1.ReplicationController:
		return replicaOf(o, o.Spec.Template, o.Spec.Replicas, kind, "replication-controller")
	case *appsv1.StatefulSet:
		return statefulPodOf(o)
	case *appsv1.DaemonSet:
		return daemonPodOf(o)
	case *batchv1.CronJob:
		return jobOf(o)
	case *batchv1.Job:
		return jobPodOf(o)
	}
	return nil, fmt.Errorf("unexpected type %T of %s", v.VersionedObject, kind)
}

// GeneratedBy returns the resources that controllers create for a workload of a kind, the Pod and
// those in between; none if the kind is no workload.
func GeneratedBy(kind schema.GroupKind) []schema.GroupResource {
	pods := gr("", "pods")
	switch kind {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}:
		return []schema.GroupResource{gr("apps", "replicasets"), pods}
	case schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		return []schema.GroupResource{gr("batch", "jobs"), pods}
	case schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, schema.GroupKind{Kind: "ReplicationController"},
		schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
		schema.GroupKind{Group: "batch", Kind: "Job"}:
		return []schema.GroupResource{pods}
	}
	return nil
}

// JudgesPods reports whether the server itself may refuse a Pod in a namespace although it accepts
// the workload: a Pod Security level is enforced, or a LimitRange or a ResourceQuota limits Pods.
func JudgesPods(c *admission.Cluster, namespace string) bool {
	ns, _, err := c.Namespace(namespace)
	if err != nil {
		return true // the Pod's own request reports the error
	}
	if level := ns.Labels[podsecurity.EnforceLevelLabel]; level != "" && level != string(podsecurity.LevelPrivileged) {
		return true
	}
	return slices.ContainsFunc([]string{"LimitRange", "ResourceQuota"}, func(kind string) bool {
		r, ok := c.Resource(corev1.SchemeGroupVersion.WithKind(kind))
		return ok && len(c.List(r, namespace)) > 0
	})
}

func gr(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}

// newGenerated returns a typed object as a controller sends it.
func newGenerated(obj runtime.Object, kind schema.GroupVersionKind, controller string, moves []move) (*Generated, error) {
	content, err := admission.Content(obj)
	if err != nil {
		return nil, fmt.Errorf("encode the generated %s: %w", kind.Kind, err)
	}
	content["apiVersion"], content["kind"] = kind.ToAPIVersionAndKind()
	return &Generated{Object: admission.NewObject(content), User: controllerUser(controller), moves: moves}, nil
}

func newGeneratedPod(pod *corev1.Pod, owner metav1.Object, controller string, moves []move) (*Generated, error) {
	pod.Namespace = owner.GetNamespace()
	return newGenerated(pod, corev1.SchemeGroupVersion.WithKind("Pod"), controller, moves)
}

// controllerUser returns a controller's service account, as kube-controller-manager
// --use-service-account-credentials uses it.
func controllerUser(name string) user.Info {
	return &user.DefaultInfo{
		Name:   serviceaccount.MakeUsername(metav1.NamespaceSystem, name),
		Groups: append(serviceaccount.MakeGroupNames(metav1.NamespaceSystem), user.AllAuthenticated),
	}
}
